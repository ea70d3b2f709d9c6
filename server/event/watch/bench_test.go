package watch_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/event/outbox/outboxtest"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

const benchChannels = 100

// benchWorld opens a database with 100 channels.
func benchWorld(b *testing.B, url store.URL) (*store.Store, []uid.ID) {
	b.Helper()
	ctx := context.Background()
	storetest.Migrate(b, url)
	s, err := store.Open(ctx, url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	ids := make([]uid.ID, benchChannels)
	var records []*platformv1.Record
	for i := range ids {
		ids[i] = uid.New()
		records = append(records,
			&platformv1.Record{Kind: &platformv1.Record_User{User: &platformv1.UserRecord{Id: ids[i].String(), Username: fmt.Sprintf("bench%d", i)}}},
			&platformv1.Record{Kind: &platformv1.Record_Channel{Channel: &platformv1.ChannelRecord{Id: ids[i].String(), Title: "x"}}})
	}
	servertest.Import(b, s, records...)
	return s, ids
}

// BenchmarkDelivery writes 1,000 events a second to 100 channels for five seconds. It
// reports the delay between the end of a write and its delivery to a listener in the same
// process, and to one in another process, which polls.
func BenchmarkDelivery(b *testing.B) {
	const rate, seconds = 1000, 5
	storetest.EachBench(b, func(b *testing.B, url store.URL) {
		s, channels := benchWorld(b, url)
		far, err := store.Open(context.Background(), url)
		if err != nil {
			b.Fatal(err)
		}
		defer far.Close()
		ctx, cancel := context.WithCancel(context.Background())
		var background sync.WaitGroup
		near, remote := watch.NewHub(s, slog.Default()), watch.NewHub(far, slog.Default())
		q := outboxtest.NewSequencer(s)
		q.Sequenced = near.Wake
		if err := q.Turn(ctx); err != nil { // takes the lease
			b.Fatal(err)
		}
		for _, run := range []func(context.Context){
			func(ctx context.Context) { outboxtest.RunJobs(ctx, s, q.Job(), near.Job()) },
			func(ctx context.Context) { outboxtest.RunJobs(ctx, far, remote.Job()) },
		} {
			background.Go(func() { run(ctx) })
		}
		var mu sync.Mutex
		written := map[string]time.Time{}
		for b.Loop() {
			delays := map[string]*[]time.Duration{"same-process": {}, "other-process": {}}
			var listeners sync.WaitGroup
			for name, hub := range map[string]*watch.Hub{"same-process": near, "other-process": remote} {
				from, err := hub.Subscribe(ctx, nil, nil)
				if err != nil {
					b.Fatal(err)
				}
				listeners.Go(func() {
					defer from.Close()
					for n := 0; n < rate*seconds; {
						page, err := from.Next(ctx, nil)
						at := time.Now()
						if err != nil {
							b.Error(err)
							return
						}
						n += len(page)
						mu.Lock()
						for _, e := range page {
							key := fmt.Sprint(e.ChannelID, e.Message.GetMetadata().GetSequence())
							*delays[name] = append(*delays[name], at.Sub(written[key]))
						}
						mu.Unlock()
					}
				})
			}
			writeAtRate(b, s, channels, rate, rate*seconds, func(channel uid.ID, sequence int64, at time.Time) {
				mu.Lock()
				written[fmt.Sprint(channel, sequence)] = at
				mu.Unlock()
			})
			listeners.Wait()
			for name, d := range delays {
				slices.Sort(*d)
				b.ReportMetric(float64((*d)[len(*d)/2].Microseconds())/1000, name+"-p50-ms")
				b.ReportMetric(float64((*d)[len(*d)*99/100].Microseconds())/1000, name+"-p99-ms")
			}
		}
		cancel()
		background.Wait()
	})
}

// writeAtRate writes total events, one in a transaction, at a steady rate.
func writeAtRate(b *testing.B, s *store.Store, channels []uid.ID, rate, total int, wrote func(uid.ID, int64, time.Time)) {
	b.Helper()
	ticks := make(chan int, total)
	var writers sync.WaitGroup
	next := make([]int64, len(channels))
	var locks [benchChannels]sync.Mutex
	for range 16 {
		writers.Go(func() {
			for i := range ticks {
				at := i % len(channels)
				locks[at].Lock()
				if err := outboxtest.Emit(s, channels[at], 1); err != nil {
					b.Error(err)
				}
				next[at]++
				wrote(channels[at], next[at], time.Now())
				locks[at].Unlock()
			}
		})
	}
	ticker := time.NewTicker(time.Second / 100)
	defer ticker.Stop()
	for sent := 0; sent < total; {
		<-ticker.C
		for range rate / 100 {
			ticks <- sent
			sent++
		}
	}
	close(ticks)
	writers.Wait()
}

// BenchmarkWatchers opens 2,000 streams on one server. It reports the memory of each, and how
// long an event takes to reach all of them.
func BenchmarkWatchers(b *testing.B) {
	const watchers, perConnection = 2000, 250
	s := servertest.Start(b, servertest.Config(storetest.SQLite(b)))
	servertest.Import(b, s.Store, servertest.World()...)
	for b.Loop() {
		before := heapInUse()
		ctx, cancel := context.WithCancel(s.AsService(b).Context())
		var arrived sync.WaitGroup
		for range watchers / perConnection {
			conn, err := grpc.NewClient(s.GRPCAddr, grpc.WithTransportCredentials(insecure.NewCredentials()))
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			for range perConnection {
				stream, err := moderatov1.NewEventsServiceClient(conn).WatchEvents(ctx, &moderatov1.WatchEventsRequest{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := stream.Recv(); err != nil {
					b.Fatal(err)
				}
				arrived.Add(1)
				go func() {
					defer arrived.Done()
					for {
						m, err := stream.Recv()
						if err != nil || m.GetEvent() != nil {
							return
						}
					}
				}()
			}
		}
		b.ReportMetric(float64(heapInUse()-before)/watchers/1024, "KB/watcher-with-its-client")
		start := time.Now()
		if err := outboxtest.Emit(s.Store, servertest.Owner, 1); err != nil {
			b.Fatal(err)
		}
		arrived.Wait()
		b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms-to-all")
		cancel()
	}
}

// BenchmarkWake adds pages with an event in each of 500 channels to a hub with 5,000
// listeners to every channel, whom none of the events concerns.
func BenchmarkWake(b *testing.B) {
	const listeners, channels = 5000, 500
	ctx := context.Background()
	url := storetest.SQLite(b)
	storetest.Migrate(b, url)
	s, err := store.Open(ctx, url)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	hub := watch.NewHub(s, slog.New(slog.DiscardHandler))
	for range listeners {
		from, err := hub.Subscribe(ctx, nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		defer from.Close()
		from.Narrow(&watch.Interest{Types: []eventtype.Type{"stream.online"}})
		if _, err := from.Next(ctx, fired()); err != nil {
			b.Fatal(err)
		}
	}
	page := make([]*outbox.Event, channels)
	for i := range page {
		page[i] = &outbox.Event{ChannelID: uid.New(), Type: "channel.ban"}
	}
	for after := int64(0); b.Loop(); after += channels {
		for i, e := range page {
			e.Position = after + int64(i) + 1
		}
		hub.Add(after, page)
	}
}

// fired returns the channel of a timer that has fired.
func fired() <-chan time.Time {
	c := make(chan time.Time, 1)
	c <- time.Time{}
	return c
}

// heapInUse returns the bytes in use by the heap and the stacks after a collection.
func heapInUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
