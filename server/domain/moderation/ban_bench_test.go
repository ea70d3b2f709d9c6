package moderation_test

import (
	"fmt"
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// BenchmarkBan bans and unbans users of one channel, with 1 and with 32 concurrent callers.
func BenchmarkBan(b *testing.B) {
	storetest.EachBench(b, func(b *testing.B, url store.URL) {
		s := servertest.Start(b, servertest.Config(url))
		s.Load(b, servertest.World()...)
		users := servertest.AddUsers(b, s.Store, 1000)
		ctx := s.As(b, servertest.Owner).Context()
		for _, n := range []int{1, 32} {
			b.Run(fmt.Sprint(n), func(b *testing.B) {
				servertest.Call(b, n, func(i int) error {
					channel, user := servertest.Owner.String(), users[i%len(users)].String()
					_, err := s.Moderation.BanUser(ctx, &moderatov1.BanUserRequest{ChannelId: channel, BanUserId: user})
					if err == nil {
						_, err = s.Moderation.RemoveBan(ctx, &moderatov1.RemoveBanRequest{ChannelId: channel, BanUserId: user})
					}
					return err
				})
			})
		}
	})
}

// BenchmarkBatch bans 1,000 users as a batch, and undoes it. It reports both times.
func BenchmarkBatch(b *testing.B) {
	storetest.EachBench(b, func(b *testing.B, url store.URL) {
		s := servertest.Start(b, servertest.Config(url))
		s.Load(b, servertest.World()...)
		ctx, channel := s.As(b, servertest.Owner).Context(), servertest.Owner.String()
		var targets []*moderatov1.BatchTarget
		for _, id := range servertest.AddUsers(b, s.Store, 1000) {
			targets = append(targets, &moderatov1.BatchTarget{UserId: id.String()})
		}
		var banning, undoing time.Duration
		for b.Loop() {
			start := time.Now()
			made, err := s.Moderation.BanUsers(ctx, &moderatov1.BanUsersRequest{ChannelId: channel, Users: targets})
			banning += time.Since(start)
			if err != nil {
				b.Fatal(err)
			}
			start = time.Now()
			_, err = s.Moderation.UndoBanBatch(ctx, &moderatov1.UndoBanBatchRequest{ChannelId: channel, BatchId: made.GetBatchId()})
			undoing += time.Since(start)
			if err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(banning.Milliseconds())/float64(b.N), "ms/batch")
		b.ReportMetric(float64(undoing.Milliseconds())/float64(b.N), "ms/undo")
	})
}
