package rules_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// stadium is a channel with 200,000 stored messages of 10,000 users.
type stadium struct {
	*servertest.Server
	t         testing.TB
	users     []uid.ID
	moderator servertest.Credentials
}

func fillStadium(b *testing.B, url store.URL) *stadium {
	s := servertest.Start(b, servertest.Config(url))
	s.Load(b, servertest.World()...)
	users := servertest.AddUsers(b, s.Store, 10_000)
	now := storetest.Must(s.Store.Clock.Now(b.Context(), s.Store.Read))
	fillMessages(b, s.Store, 200_000, now, users, func(i int) string {
		return fmt.Sprintf("did anyone catch that last play number %d? it was term%dx, i had to watch twice", i, i%20_000)
	})
	return &stadium{s, b, users, s.As(b, servertest.Moderator)}
}

// preview previews 10 rules with 100 terms each, and further rules, with all stored messages.
func (s *stadium) preview(further ...*moderatov1.ChatRule) {
	put := further
	for i := range 10 {
		r := &moderatov1.ChatRule{Name: fmt.Sprint("rule ", i), Kind: "terms", Action: "flag", Evasions: new(i%2 == 0)}
		for j := range 100 {
			r.Terms = append(r.Terms, fmt.Sprintf("term%dx", i*100+j))
		}
		put = append(put, r)
	}
	got, err := moderatov1.NewChatRulesServiceClient(s.Conn).PreviewChatRules(s.moderator.Context(), &moderatov1.PreviewChatRulesRequest{
		ChannelId: servertest.Owner.String(), Put: put, WithinSeconds: new(int64(time.Hour.Seconds())),
	})
	if err != nil || got.GetExamined() < 200_000-1 || got.GetMatched() < 10_000 {
		s.t.Error(got, err)
	}
}

// aboutRepetition is a rule about repetition.
func aboutRepetition() *moderatov1.ChatRule {
	return &moderatov1.ChatRule{Name: "same", Kind: "repetition", Action: "block", SameSender: new(int32(2)), WithinSeconds: new(int32(60))}
}

// BenchmarkPreview previews rules with 200,000 stored messages.
func BenchmarkPreview(b *testing.B) {
	storetest.EachBench(b, func(b *testing.B, url store.URL) {
		s := fillStadium(b, url)
		b.Run("terms", func(b *testing.B) {
			for b.Loop() {
				s.preview()
			}
		})
		b.Run("terms and repetition", func(b *testing.B) {
			for b.Loop() {
				s.preview(aboutRepetition())
			}
		})
	})
}

// BenchmarkCallsBesidePreview has callers of another channel ban, list bans and post for three
// seconds, by turns alone, beside a goroutine that only uses a processor, and beside previews one
// after another. It also reports how large the heap became.
func BenchmarkCallsBesidePreview(b *testing.B) {
	storetest.EachBench(b, func(b *testing.B, url store.URL) {
		s := fillStadium(b, url)
		modes := []struct {
			name string
			work func()
		}{
			{"alone", func() { time.Sleep(time.Millisecond) }},
			{"loop", func() {
				for end := time.Now().Add(time.Millisecond); time.Now().Before(end); {
				}
			}},
			{"preview", func() { s.preview(aboutRepetition()) }},
		}
		s.callFor(time.Second) // a warm-up
		taken, largest := make([]durations, len(modes)), make([]uint64, len(modes))
		for b.Loop() {
			for i, mode := range modes {
				runtime.GC()
				calls, heap := s.callBeside(mode.work)
				taken[i] = append(taken[i], calls...)
				largest[i] = max(largest[i], heap)
			}
		}
		for i, mode := range modes {
			for _, name := range []string{"list", "ban", "post"} {
				b.ReportMetric(taken[i].p99(name), "p99-ms-"+name+"-"+mode.name)
			}
			b.ReportMetric(float64(largest[i])/1e6, "heap-MB-"+mode.name)
		}
	})
}

// callBeside makes calls for three seconds while work is done over and over. It returns the largest
// size of the heap as well.
func (s *stadium) callBeside(work func()) (calls durations, heap uint64) {
	var over atomic.Bool
	var all sync.WaitGroup
	all.Go(func() {
		for !over.Load() {
			work()
		}
	})
	all.Go(func() {
		for ; !over.Load(); time.Sleep(50 * time.Millisecond) {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			heap = max(heap, m.HeapInuse)
		}
	})
	calls = s.callFor(3 * time.Second)
	over.Store(true)
	all.Wait()
	return calls, heap
}

// durations are the durations of calls.
type durations []struct {
	name string
	took time.Duration
}

// p99 returns the 99th percentile of the calls with a name, in milliseconds.
func (d durations) p99(name string) float64 {
	var all []time.Duration
	for _, call := range d {
		if call.name == name {
			all = append(all, call.took)
		}
	}
	slices.Sort(all)
	return all[len(all)*99/100].Seconds() * 1e3
}

// callFor has four callers make a call each 20 ms, 200 calls a second together.
func (s *stadium) callFor(length time.Duration) (all durations) {
	const callers, interval = 4, 20 * time.Millisecond
	channel, by, service := servertest.Other.String(), s.As(s.t, servertest.Other).Context(), s.AsService(s.t).Context()
	channels := moderatov1.NewChannelsServiceClient(s.Conn)
	calls := []struct {
		name string
		call func(user string) error
	}{
		{"ban", func(user string) error {
			_, err := s.Moderation.BanUser(by, &moderatov1.BanUserRequest{ChannelId: channel, BanUserId: user})
			return err
		}},
		{"unban", func(user string) error {
			_, err := s.Moderation.RemoveBan(by, &moderatov1.RemoveBanRequest{ChannelId: channel, BanUserId: user})
			return err
		}},
		{"list", func(string) error {
			_, err := channels.ListBannedUsers(by, &moderatov1.ListBannedUsersRequest{ChannelId: channel})
			return err
		}},
		{"post", func(user string) error {
			_, err := s.Chat.PostMessage(service, &platformv1.PostMessageRequest{ChannelId: channel, UserId: user, Text: "hello"})
			return err
		}},
	}
	var calling sync.WaitGroup
	var mu sync.Mutex
	for n := range callers {
		calling.Go(func() {
			var mine durations
			at := time.Now()
			for i, end := 0, at.Add(length); at.Before(end); i++ {
				at = at.Add(interval)
				time.Sleep(time.Until(at))
				c := calls[i%len(calls)]
				began := time.Now()
				if err := c.call(s.users[n*100+i/len(calls)%100].String()); err != nil {
					s.t.Error(c.name, err)
				}
				mine = append(mine, durations{{c.name, time.Since(began)}}...)
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, mine...)
		})
	}
	calling.Wait()
	return all
}
