package moderation_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// BenchmarkCard reads cards with 32 concurrent callers, in a channel whose log has 1,000,000
// entries about 1,000 users. It reports the 99th percentile of the times.
func BenchmarkCard(b *testing.B) {
	storetest.EachBench(b, func(b *testing.B, url store.URL) {
		s := servertest.Start(b, servertest.Config(url))
		s.Load(b, servertest.World()...)
		users := servertest.AddUsers(b, s.Store, 1000)
		fillEntries(b, s.Store, users, 1_000_000)
		ctx := s.As(b, servertest.Owner).Context()
		b.ResetTimer()
		var mu sync.Mutex
		var times []time.Duration
		servertest.Call(b, 32, func(i int) error {
			began := time.Now()
			_, err := s.Moderation.GetUser(ctx, &moderatov1.GetUserRequest{
				ChannelId: servertest.Owner.String(), UserId: users[i%len(users)].String(), Include: "card",
			})
			mu.Lock()
			defer mu.Unlock()
			times = append(times, time.Since(began))
			return err
		})
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "ms-p99")
	})
}

// fillEntries writes n bans of users with evidence into the log of a channel.
func fillEntries(b *testing.B, s *store.Store, users []uid.ID, n int) {
	b.Helper()
	const atOnce = 500
	rows := strings.Repeat(",(?, ?, ?, 'channel.ban', ?, ?, ?, '', '', ?, '{}', ?)", atOnce)[1:]
	evidence := `[` + strings.Repeat(`,{"messageId":"`+uid.New().String()+`","text":"free skins for everybody","sentAt":1}`, 10)[1:] + `]`
	for i := 0; i < n; i += atOnce {
		var args []any
		for k := range atOnce {
			args = append(args, uid.New(), servertest.Owner, i+k+1, uid.New(), servertest.Moderator, users[(i+k)%len(users)], i, evidence)
		}
		_, err := s.DB().Exec("INSERT INTO events (id, channel_id, sequence, type, operation_id, actor_id, target_id, client_id, request_id, occurred_at, payload, evidence) VALUES "+rows, args...)
		if err != nil {
			b.Fatal(err)
		}
	}
}
