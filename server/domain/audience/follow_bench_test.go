package audience_test

import (
	"fmt"
	"testing"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// BenchmarkFollow adds followers to one channel, with 1 and with 32 concurrent callers.
func BenchmarkFollow(b *testing.B) {
	storetest.EachBench(b, func(b *testing.B, url store.URL) {
		s := servertest.Start(b, servertest.Config(url))
		s.Load(b, servertest.World()...)
		ctx, audience := s.AsService(b).Context(), platformv1.NewAudienceServiceClient(s.Conn)
		for _, n := range []int{1, 32} {
			b.Run(fmt.Sprint(n), func(b *testing.B) {
				users := servertest.AddUsers(b, s.Store, b.N)
				b.ResetTimer()
				servertest.Call(b, n, func(i int) error {
					_, err := audience.Follow(ctx, &platformv1.FollowRequest{ChannelId: servertest.Owner.String(), UserId: users[i].String()})
					return err
				})
			})
		}
	})
}
