package watch_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/event/outbox/outboxtest"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/store"
)

// rewrite removes every other event, as the erasure of channels does, and records that the
// events were rewritten.
func rewrite(t *testing.T, s *store.Store) {
	t.Helper()
	err := s.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM events WHERE position % 2 = 1"); err != nil {
			return err
		}
		return outbox.Rewrite(ctx, tx)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestHubDiscardsRewrittenEvents rewrites events that a hub holds while a listener is in the
// middle of a page. The listener gets the rest as it is after the rewrite. Neither this
// listener nor one that has received every event is too slow.
func TestHubDiscardsRewrittenEvents(t *testing.T) {
	t.Parallel()
	outboxtest.EachWorld(t, func(t *testing.T, s *store.Store) {
		hub, q := watch.NewHub(s, slog.New(slog.DiscardHandler)), outboxtest.NewSequencer(s)
		isOver := make(chan time.Time)
		close(isOver)
		next := func(from *watch.Subscription) []*outbox.Event {
			t.Helper()
			page, err := from.Next(t.Context(), isOver)
			if err != nil {
				t.Fatal(err)
			}
			return page
		}
		read := func() {
			t.Helper()
			if err := hub.Read(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		reading, live := subscribe(t, hub, nil), subscribe(t, hub, nil)
		next(reading)
		next(live)
		sequenceMany(t, s, q, 1200)
		read()
		for range 3 {
			next(live)
		}
		if page := next(reading); len(page) != 500 || reading.IsOutdated() {
			t.Fatalf("got %d events, outdated %t; want 500 that are not outdated", len(page), reading.IsOutdated())
		}
		rewrite(t, s)
		hub.ExpireLook()
		read()
		if !reading.IsOutdated() {
			t.Fatal("the page is not outdated after the rewrite")
		}
		reading.GoBack(300)
		sequenceMany(t, s, q, 10)
		read()
		want := int64(302)
		for page := next(reading); len(page) > 0; page = next(reading) {
			for _, e := range page {
				if e.Position != want {
					t.Fatalf("got position %d, want %d", e.Position, want)
				}
				if want += 2; want > 1200 {
					want = e.Position + 1
				}
			}
		}
		if reading.Position() != 1210 {
			t.Errorf("final position: got %d, want 1210", reading.Position())
		}
		if page := next(live); len(page) != 10 || live.IsOutdated() {
			t.Errorf("live listener: got %d events, want 10", len(page))
		}
	})
}
