package audience_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
)

// BenchmarkFollow has users follow one channel, from one connection and from 32.
func BenchmarkFollow(b *testing.B) {
	storetest.EachBench(b, func(b *testing.B, url store.URL) {
		s := servertest.Start(b, servertest.Config(url))
		s.Load(b, servertest.World()...)
		ctx, audience := s.AsService(b).Context(), platformv1.NewAudienceServiceClient(s.Conn)
		for _, n := range []int{1, 32} {
			b.Run(fmt.Sprint(n), func(b *testing.B) {
				users := servertest.AddUsers(b, s.Store, b.N)
				b.ResetTimer()
				var next atomic.Int64
				var all sync.WaitGroup
				for range n {
					all.Go(func() {
						for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
							_, err := audience.Follow(ctx, &platformv1.FollowRequest{ChannelId: servertest.Owner.String(), UserId: users[i-1].String()})
							if err != nil {
								b.Error(err)
							}
						}
					})
				}
				all.Wait()
			})
		}
	})
}
