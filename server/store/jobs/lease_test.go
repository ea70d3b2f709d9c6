package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
	"github.com/moderato-live/moderato/test/storetest"
)

// each runs a test on a migrated store of each kind. The tests use the lease of the bus,
// and advance its position as the work.
func each(t *testing.T, test func(t *testing.T, s *store.Store)) {
	t.Helper()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		storetest.Migrate(t, url)
		s, err := store.Open(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		test(t, s)
	})
}

func newLease(s *store.Store) *jobs.Lease {
	return jobs.NewLease(s, slog.New(slog.DiscardHandler), "event_sinks", "nats")
}

func take(t *testing.T, l *jobs.Lease) bool {
	t.Helper()
	held, err := l.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if held != l.IsHeld() {
		t.Errorf("Take answers %t, and IsHeld %t", held, l.IsHeld())
	}
	return held
}

// move advances the position as the holder, and reports whether it succeeded.
func move(t *testing.T, s *store.Store, l *jobs.Lease, to int64) bool {
	t.Helper()
	held, err := l.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ instant.Instant) error {
		return tx.EventSink.UpdateOneID("nats").SetPosition(to).Exec(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	if moved := storetest.Must(s.Read.EventSink.Get(t.Context(), "nats")).Position == to; moved != held {
		t.Errorf("Write answers %t, and the position was moved: %t", held, moved)
	}
	return held
}

func TestLeaseHasOneHolder(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		first := newLease(s)
		if first.IsHeld() {
			t.Error("it is held before it was taken")
		}
		for _, when := range []string{"when it is free", "when they have it"} {
			if !take(t, first) {
				t.Errorf("the lease is not taken %s", when)
			}
		}
		if take(t, newLease(s)) {
			t.Error("a lease is taken from its holder")
		}
		if !move(t, s, first, 1) {
			t.Error("the holder cannot work")
		}
	})
}

func TestExpiredLeaseIsTakenOverWithin5s(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		stale, next := newLease(s), newLease(s)
		take(t, stale)
		s.Clock.Advance(5*time.Second - jobs.AskInterval)
		if !take(t, next) {
			t.Fatal("nobody takes over")
		}
		if !move(t, s, next, 1) || move(t, s, stale, 2) || stale.IsHeld() {
			t.Error("the holder that lost the lease continues")
		}
		s.Clock.Advance(3 * time.Second)
		if !move(t, s, next, 3) { // the work renews the lease
			t.Error("the new holder cannot work")
		}
		s.Clock.Advance(3 * time.Second)
		if take(t, newLease(s)) {
			t.Error("a lease that was renewed is taken")
		}
	})
}

// TestLeaseIsTakenOverAfterClockWasSetBack has the holder die when the database's clock is set
// back by an hour.
func TestLeaseIsTakenOverAfterClockWasSetBack(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		stale, next := newLease(s), newLease(s)
		take(t, stale)
		s.Clock.Advance(-time.Hour)
		if !take(t, next) {
			t.Fatal("nobody takes over for an hour")
		}
		if !move(t, s, next, 1) || move(t, s, stale, 2) || stale.IsHeld() {
			t.Error("the holder that lost the lease continues")
		}
		if take(t, newLease(s)) {
			t.Error("a lease is taken from its holder")
		}
	})
}

func TestReleasedLeaseIsFreeImmediately(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		first, next := newLease(s), newLease(s)
		take(t, first)
		first.Release(t.Context())
		if first.IsHeld() || !take(t, next) {
			t.Error("it was not given up")
		}
		s.Clock.Advance(5 * time.Second)
		third := newLease(s)
		take(t, third)
		next.Release(t.Context()) // the server does not know that it lost the lease
		if take(t, newLease(s)) || !move(t, s, third, 1) {
			t.Error("who lost it gives up another's")
		}
	})
}

// TestLeaseTakenAgainIsNotLogged has a job take its lease again and again, as one does that works
// once a minute, and then another server.
func TestLeaseTakenAgainIsNotLogged(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		var out bytes.Buffer
		log := slog.New(slog.NewTextHandler(&out, nil))
		first, second := jobs.NewLease(s, log, "event_sinks", "nats"), jobs.NewLease(s, log, "event_sinks", "nats")
		for i, c := range []struct {
			by     *jobs.Lease
			logged int
		}{{first, 1}, {first, 1}, {second, 2}, {first, 3}} {
			for !take(t, c.by) {
				time.Sleep(10 * time.Millisecond) // it asks only every AskInterval
			}
			if n := strings.Count(out.String(), "lease acquired"); n != c.logged {
				t.Errorf("after %d times the log has %d lines, want %d", i+1, n, c.logged)
			}
			c.by.Release(t.Context())
		}
	})
}

func TestFailedWorkKeepsLease(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		l, failure := newLease(s), errors.New("failure")
		take(t, l)
		held, err := l.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ instant.Instant) error {
			return errors.Join(tx.EventSink.UpdateOneID("nats").SetPosition(1).Exec(ctx), failure)
		})
		if held || !errors.Is(err, failure) {
			t.Errorf("got %t, %v", held, err)
		}
		if storetest.Must(s.Read.EventSink.Get(t.Context(), "nats")).Position != 0 {
			t.Error("work that failed was kept")
		}
		if !move(t, s, l, 2) {
			t.Error("the lease is lost")
		}
	})
}
