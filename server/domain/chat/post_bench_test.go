package chat_test

import (
	"fmt"
	"testing"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// BenchmarkPost posts messages in one channel, with 1 and with 32 concurrent callers.
func BenchmarkPost(b *testing.B) {
	storetest.EachBench(b, func(b *testing.B, url store.URL) {
		s := servertest.Start(b, servertest.Config(url))
		s.Load(b, servertest.World()...)
		users := servertest.AddUsers(b, s.Store, 1000)
		ctx := s.AsService(b).Context()
		for _, n := range []int{1, 32} {
			b.Run(fmt.Sprint(n), func(b *testing.B) {
				servertest.Call(b, n, func(i int) error {
					_, err := s.Chat.PostMessage(ctx, &platformv1.PostMessageRequest{
						ChannelId: servertest.Owner.String(), UserId: users[i%len(users)].String(), Text: "hello",
					})
					return err
				})
			})
		}
	})
}
