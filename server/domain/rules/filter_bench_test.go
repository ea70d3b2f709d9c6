package rules_test

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// BenchmarkPost posts through 32 connections at once, without rules and with 100 rules of 100 terms
// each. Other programs on the machine do not count in cpu-ns/op.
func BenchmarkPost(b *testing.B) {
	for _, rules := range []int{0, 100} {
		b.Run(fmt.Sprint(rules, " rules"), func(b *testing.B) {
			s := servertest.Start(b, servertest.Config(storetest.SQLite(b)))
			s.Load(b, servertest.World()...)
			users := servertest.AddUsers(b, s.Store, 1000)
			var put []*moderatov1.ChatRule
			for i := range rules {
				r := &moderatov1.ChatRule{Name: fmt.Sprint("rule ", i), Kind: "terms", Action: "block", Evasions: new(i%2 == 0)}
				for j := range 100 {
					r.Terms = append(r.Terms, fmt.Sprintf("bad%dword%d", i, j))
				}
				put = append(put, r)
			}
			if rules > 0 {
				_, err := moderatov1.NewChatRulesServiceClient(s.Conn).UpdateChatRules(s.As(b, servertest.Moderator).Context(), &moderatov1.UpdateChatRulesRequest{ChannelId: servertest.Owner.String(), Put: put})
				if err != nil {
					b.Fatal(err)
				}
			}
			service := s.AsService(b).Context()
			post := func(i int64) {
				_, err := s.Chat.PostMessage(service, &platformv1.PostMessageRequest{
					ChannelId: servertest.Owner.String(), UserId: users[i%1000].String(), Text: fmt.Sprint("did anyone catch that last play? i had to watch twice ", i),
				})
				if err != nil {
					b.Error(err)
				}
			}
			post(0) // compiles
			var n atomic.Int64
			b.SetParallelism(16) // on two processors
			start := cpuTime(b)
			b.ResetTimer()
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					post(n.Add(1))
				}
			})
			b.ReportMetric(float64(cpuTime(b)-start)/float64(b.N), "cpu-ns/op")
		})
	}
}

// cpuTime returns how long the processors worked for this process.
func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
