// Package livetest helps tests that send live events to the listeners of a server.
package livetest

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/event/outbox/outboxtest"
	"github.com/moderato-live/moderato/server/store"
)

// Elsewhere returns the Hub of another server of a database, which runs until the test ends. It
// exchanges events through the table.
func Elsewhere(t testing.TB, s *store.Store) *live.Hub {
	t.Helper()
	h := live.NewHub(s, slog.New(slog.DiscardHandler), prometheus.NewRegistry(), func(context.Context, *store.Store, []uid.ID) (map[uid.ID]bool, error) { return nil, nil })
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { h.Run(ctx) })
	all.Go(func() { outboxtest.RunJobs(ctx, s, h.Jobs()...) })
	t.Cleanup(func() { stop(); all.Wait() })
	return h
}
