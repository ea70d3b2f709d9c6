package watch_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/event/bus"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/natstest"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// BenchmarkChatOverNATS posts 1,000 messages a second, a quarter on each of four servers, and
// reports how long they take to listeners on the other servers.
func BenchmarkChatOverNATS(b *testing.B) {
	storetest.EachBench(b, func(b *testing.B, url store.URL) {
		config := servertest.Config(url)
		config.Bus, config.ChatOverNATS, config.ChatSubject = bus.Config{URL: natstest.Start(b).URL(), Stream: "MODERATO", Subject: "moderato.events"}, true, "moderato.chat"
		servers := make([]*servertest.Server, 4)
		for i := range servers {
			servers[i] = servertest.Start(b, config)
		}
		servers[0].Load(b, servertest.World()...)
		users := servertest.AddUsers(b, servers[0].Store, 1000)
		ctx, stop := context.WithCancel(servers[0].As(b, servertest.Owner).Context())
		defer stop()
		var mu sync.Mutex
		var delays []time.Duration
		missed := 0
		var listening sync.WaitGroup
		for own, s := range servers {
			stream, err := moderatov1.NewEventsServiceClient(s.Conn).WatchEvents(ctx, &moderatov1.WatchEventsRequest{ChannelId: servertest.Owner.String(), Type: []string{chatMessage}})
			if err != nil {
				b.Fatal(err)
			}
			listening.Go(func() {
				for heard := 0; heard < b.N; {
					r, err := stream.Recv()
					if err != nil {
						b.Error(err)
						return
					}
					heard += int(r.GetMissedMessages())
					mu.Lock()
					missed += int(r.GetMissedMessages())
					var from int
					var at int64
					if n, _ := fmt.Sscan(r.GetEvent().GetChatMessage().GetMessage(), &from, &at); n == 2 {
						if heard++; from != own {
							delays = append(delays, time.Since(time.Unix(0, at)))
						}
					}
					mu.Unlock()
				}
			})
		}
		time.Sleep(time.Second) // until the servers are connected, and subscribed
		service := make([]context.Context, len(servers))
		for i, s := range servers {
			service[i] = s.AsService(b).Context()
		}
		b.ResetTimer()
		began := time.Now()
		servertest.Call(b, 64, func(i int) error {
			time.Sleep(time.Until(began.Add(time.Duration(i) * time.Millisecond)))
			at := i % len(servers)
			_, err := servers[at].Chat.PostMessage(service[at], &platformv1.PostMessageRequest{
				ChannelId: servertest.Owner.String(), UserId: users[i%len(users)].String(), Text: fmt.Sprint(at, " ", time.Now().UnixNano()),
			})
			return err
		})
		listening.Wait()
		slices.Sort(delays)
		b.ReportMetric(float64(delays[len(delays)*99/100].Milliseconds()), "p99-ms")
		b.ReportMetric(float64(delays[len(delays)/2].Milliseconds()), "p50-ms")
		b.ReportMetric(float64(missed), "missed")
	})
}
