package moderation_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	oldMessages  = 1_000_000
	benchSenders = 5000
	benchWriters = 32
	benchPhase   = 20 * time.Second
)

// BenchmarkBansDuringRetention reports the 99th percentile of the duration of bans over 32
// connections, without and while a million old messages are being removed.
func BenchmarkBansDuringRetention(b *testing.B) {
	storetest.EachBench(b, func(b *testing.B, url store.URL) {
		s := servertest.Start(b, servertest.Config(url))
		s.Load(b, servertest.World()...)
		channels := servertest.AddChannels(b, s.Store, benchWriters)
		var owners []servertest.Credentials
		for _, id := range channels {
			owners = append(owners, s.As(b, id))
		}
		senders := servertest.AddUsers(b, s.Store, benchSenders)
		insertOld(b, s.Store, channels, senders)
		r := chat.NewRetention(s.Store, slog.New(slog.DiscardHandler), chat.MinRetention)
		job := r.Job()
		runner := jobs.NewRunner(s.Store, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
		for b.Loop() {
			next := &atomic.Int64{}
			alone := banFor(b, s, channels, owners, senders, next)
			done := make(chan struct{})
			ctx, stop := context.WithCancel(b.Context())
			go func() {
				defer close(done)
				runner.Run(ctx, job)
			}()
			during := banFor(b, s, channels, owners, senders, next)
			removed := job.Removed.Load()
			stop()
			<-done
			b.ReportMetric(float64(alone.Microseconds())/1000, "p99-alone-ms")
			b.ReportMetric(float64(during.Microseconds())/1000, "p99-during-ms")
			b.ReportMetric(float64(removed)/benchPhase.Seconds(), "removed/s")
		}
	})
}

// insertOld inserts messages that are a year old.
func insertOld(b *testing.B, s *store.Store, channels, senders []uid.ID) {
	b.Helper()
	const rows = 1000
	old := s.Clock.Local().Add(-365 * 24 * time.Hour)
	for n := 0; n < oldMessages; n += rows {
		var args []any
		for i := n; i < n+rows; i++ {
			args = append(args, uid.New(), channels[i%len(channels)], senders[i%len(senders)], 0, strings.Repeat("x", 60), old.Add(time.Duration(i)*time.Millisecond))
		}
		if _, err := s.DB().Exec("INSERT INTO messages (id, channel_id, user_id, generation, text, sent_at) VALUES "+strings.Repeat(",(?,?,?,?,?,?)", rows)[1:], args...); err != nil {
			b.Fatal(err)
		}
	}
}

// banFor bans users from all writers for some time, and returns the 99th percentile.
func banFor(b *testing.B, s *servertest.Server, channels []uid.ID, owners []servertest.Credentials, senders []uid.ID, next *atomic.Int64) time.Duration {
	b.Helper()
	var mu sync.Mutex
	var took []time.Duration
	var group sync.WaitGroup
	deadline := time.Now().Add(benchPhase)
	for w := range benchWriters {
		group.Go(func() {
			for time.Now().Before(deadline) {
				user := senders[int(next.Add(1))%len(senders)]
				begun := time.Now()
				_, err := s.Moderation.BanUser(owners[w].Context(), &moderatov1.BanUserRequest{ChannelId: channels[w].String(), BanUserId: user.String()})
				d := time.Since(begun)
				if err != nil && !strings.Contains(fmt.Sprint(err), "ALREADY") && !strings.Contains(fmt.Sprint(err), "BANNED") {
					b.Error(err)
					return
				}
				mu.Lock()
				took = append(took, d)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	slices.Sort(took)
	b.Logf("%d bans, median %s", len(took), took[len(took)/2])
	return took[len(took)*99/100]
}
