package gateway_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/event/outbox/outboxtest"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/middleware/inprocess"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// frames counts the frames of a stream, and discards them.
type frames struct {
	discarded

	n *atomic.Int64
}

var dataLine = []byte("\ndata: ")

func (f *frames) Write(b []byte) (int, error) {
	if bytes.Contains(b, dataLine) {
		f.n.Add(1)
	}
	return len(b), nil
}

func (f *frames) FlushError() error                { return nil }
func (f *frames) SetReadDeadline(time.Time) error  { return nil }
func (f *frames) SetWriteDeadline(time.Time) error { return nil }

// BenchmarkEventStreams sends events to many listeners over Server-Sent Events,
// from the row of an event to the bytes that net/http is to write.
func BenchmarkEventStreams(b *testing.B) {
	const listeners, atOnce = 200, 500
	s := servertest.Start(b, servertest.Config(storetest.SQLite(b)))
	s.Load(b, servertest.World()...)
	ctx, cancel := context.WithCancel(b.Context())
	hub := watch.NewHub(s.Store, slog.New(slog.DiscardHandler))
	rights := &watch.Rights{Store: s.Store, Log: slog.New(slog.DiscardHandler)}
	interceptors := chainOf(s, slog.New(slog.DiscardHandler))
	conn := inprocess.New(interceptors.Unary, interceptors.Stream)
	moderatov1.RegisterEventsServiceServer(conn, &watch.Service{
		Hub: hub, Rights: rights, Heartbeat: time.Hour, Limits: watch.StreamLimits{PerUser: listeners, PerToken: listeners, Total: listeners},
	})
	facade, owner := facadeOver(b, conn), s.As(b, servertest.Owner)
	var running sync.WaitGroup
	running.Go(func() { outboxtest.RunJobs(ctx, s.Store, append(rights.Jobs(), hub.Job())...) })
	var begun sync.WaitGroup
	var sent atomic.Int64
	for range listeners {
		begun.Add(1)
		running.Go(func() {
			r, _ := http.NewRequestWithContext(ctx, http.MethodGet, "/v1/events", nil)
			r.Header = http.Header{"Authorization": {"Bearer " + owner.Token}, "Client-Id": {owner.ClientID}}
			facade.ServeHTTP(&begins{frames{discarded{header: http.Header{}}, &sent}, &begun}, r)
		})
	}
	begun.Wait()
	var elapsed, mallocs, allocated float64
	events := 0
	for b.Loop() {
		// Write the events while the listeners are idle, so that only their delivery is
		// measured: the sequencer of the server gives them positions at once.
		before, start := new(runtime.MemStats), time.Now()
		runtime.ReadMemStats(before)
		if err := outboxtest.Emit(s.Store, servertest.Owner, atOnce); err != nil {
			b.Fatal(err)
		}
		events += atOnce
		for sent.Load() < int64(events*listeners) {
			time.Sleep(time.Millisecond)
		}
		elapsed += float64(time.Since(start).Nanoseconds())
		after := new(runtime.MemStats)
		runtime.ReadMemStats(after)
		mallocs += float64(after.Mallocs - before.Mallocs)
		allocated += float64(after.TotalAlloc - before.TotalAlloc)
	}
	n := float64(events * listeners)
	b.ReportMetric(elapsed/n, "ns/frame")
	b.ReportMetric(mallocs/n, "allocs/frame")
	b.ReportMetric(allocated/n, "B/frame")
	cancel()
	running.Wait()
}

// begins is frames that signals when the stream has begun.
type begins struct {
	frames

	begun *sync.WaitGroup
}

func (b *begins) WriteHeader(status int) {
	b.frames.WriteHeader(status)
	b.begun.Done()
}
