package moderation_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
)

// BenchmarkBan bans and unbans users of one channel, from one connection and from 32.
func BenchmarkBan(b *testing.B) {
	storetest.EachBench(b, func(b *testing.B, url store.URL) {
		s := servertest.Start(b, servertest.Config(url))
		s.Load(b, servertest.World()...)
		users := servertest.AddUsers(b, s.Store, 1000)
		ctx := s.As(b, servertest.Owner).Context()
		for _, n := range []int{1, 32} {
			b.Run(fmt.Sprint(n), func(b *testing.B) {
				var next atomic.Int64
				var all sync.WaitGroup
				for range n {
					all.Go(func() {
						for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
							channel, user := servertest.Owner.String(), users[i%int64(len(users))].String()
							_, err := s.Moderation.BanUser(ctx, &moderatov1.BanUserRequest{ChannelId: channel, BanUserId: user})
							if err == nil {
								_, err = s.Moderation.RemoveBan(ctx, &moderatov1.RemoveBanRequest{ChannelId: channel, BanUserId: user})
							}
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
