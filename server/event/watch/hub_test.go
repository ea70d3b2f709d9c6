package watch_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/event/outbox/outboxtest"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// runHub runs a hub until the test ends.
func runHub(t *testing.T, s *store.Store) *watch.Hub {
	t.Helper()
	hub := watch.NewHub(s, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); outboxtest.RunJobs(ctx, s, hub.Job()) }()
	t.Cleanup(func() { cancel(); <-ended })
	return hub
}

// sequenceMany writes n events of the owner's channel and assigns their positions.
func sequenceMany(t *testing.T, s *store.Store, q *outbox.Sequencer, n int) {
	t.Helper()
	if err := outboxtest.Emit(s, servertest.Owner, n); err != nil {
		t.Fatal(err)
	}
	outboxtest.Turn(t, q)
}

func subscribe(t *testing.T, hub *watch.Hub, after *int64) *watch.Subscription {
	t.Helper()
	s, err := hub.Subscribe(context.Background(), after, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// receive receives n events and checks that their positions are dense.
func receive(t *testing.T, s *watch.Subscription, n int) {
	t.Helper()
	next := s.Position() + 1
	for deadline := time.After(20 * time.Second); n > 0; {
		page, err := s.Next(context.Background(), deadline)
		if err != nil || len(page) == 0 {
			t.Fatalf("got %d events too few: %v", n, err)
		}
		for _, e := range page {
			if e.Position != next {
				t.Fatalf("got position %d, want %d", e.Position, next)
			}
			next++
			n--
		}
	}
}

func TestSubscriptionStartsAfterPosition(t *testing.T) {
	t.Parallel()
	outboxtest.EachWorld(t, func(t *testing.T, s *store.Store) {
		hub, q := runHub(t, s), outboxtest.NewSequencer(s)
		sequenceMany(t, s, q, 1200) // more than two pages
		live := subscribe(t, hub, nil)
		zero := int64(0)
		fromStart := subscribe(t, hub, &zero)
		receive(t, fromStart, 1200)
		sequenceMany(t, s, q, 700)
		receive(t, live, 700)
		receive(t, fromStart, 700)
		middle := int64(1000)
		receive(t, subscribe(t, hub, &middle), 900)
	})
}

func TestSubscriptionBehindRingIsTooSlow(t *testing.T) {
	t.Parallel()
	outboxtest.EachWorld(t, func(t *testing.T, s *store.Store) {
		hub, q := runHub(t, s), outboxtest.NewSequencer(s)
		slow, quick := subscribe(t, hub, nil), subscribe(t, hub, nil)
		none := make(chan time.Time, 1)
		none <- time.Time{}
		if page, err := slow.Next(context.Background(), none); len(page) > 0 || err != nil {
			t.Fatalf("before the first event: got %d events (%v), want none", len(page), err)
		}
		for range 5 { // more than the ring holds
			sequenceMany(t, s, q, 2000)
			receive(t, quick, 2000)
		}
		if _, err := slow.Next(context.Background(), none); !errors.Is(err, watch.ErrTooSlow) {
			t.Errorf("got %v, want ErrTooSlow", err)
		}
		zero := int64(0)
		receive(t, subscribe(t, hub, &zero), 10_000) // a new subscription can still read them all
	})
}

func TestSubscribeRejectsTrimmedPosition(t *testing.T) {
	t.Parallel()
	outboxtest.EachWorld(t, func(t *testing.T, s *store.Store) {
		hub, q := runHub(t, s), outboxtest.NewSequencer(s)
		sequenceMany(t, s, q, 10)
		if _, err := s.DB().Exec("UPDATE event_sequencers SET trimmed_position = 5"); err != nil {
			t.Fatal(err)
		}
		for position, want := range map[int64]error{4: watch.ErrTrimmed, 5: nil, 10: nil, 11: watch.ErrTrimmed} {
			from, err := hub.Subscribe(context.Background(), &position, nil)
			if !errors.Is(err, want) {
				t.Errorf("after position %d: got %v, want %v", position, err, want)
			}
			if err == nil {
				from.Close()
			}
		}
	})
}

// TestRetentionAheadOfHubEndsSubscriptions removes events before the hub has read them, as
// if the process had been disconnected for longer than events are kept. Its listeners must
// not continue as if no event was missing.
func TestRetentionAheadOfHubEndsSubscriptions(t *testing.T) {
	t.Parallel()
	outboxtest.EachWorld(t, func(t *testing.T, s *store.Store) {
		ctx := context.Background()
		hub, q := watch.NewHub(s, slog.New(slog.DiscardHandler)), outboxtest.NewSequencer(s)
		live := subscribe(t, hub, nil)
		isOver := make(chan time.Time)
		close(isOver)
		next := func(remove string) (int, error) {
			t.Helper()
			sequenceMany(t, s, q, 10)
			for _, statement := range strings.Split(remove, ";") {
				if _, err := s.DB().Exec(statement); err != nil {
					t.Fatal(err)
				}
			}
			if err := hub.Read(ctx); err != nil {
				t.Fatal(err)
			}
			page, err := live.Next(ctx, isOver)
			return len(page), err
		}
		if page, err := live.Next(ctx, isOver); len(page) > 0 || err != nil {
			t.Fatalf("before the first event: got %d events (%v), want none", len(page), err)
		}
		if n, err := next("DELETE FROM events WHERE position = 3"); n != 9 || err != nil { // as the erasure of its channel does
			t.Errorf("got %d events (%v), want 9", n, err)
		}
		if n, err := next("DELETE FROM events WHERE position <= 12;UPDATE event_sequencers SET trimmed_position = 12"); !errors.Is(err, watch.ErrTooSlow) {
			t.Errorf("got %d events (%v), want ErrTooSlow", n, err)
		}
		position := live.Position()
		if _, err := hub.Subscribe(ctx, &position, nil); !errors.Is(err, watch.ErrTrimmed) {
			t.Errorf("subscribing again: got %v, want ErrTrimmed", err)
		}
	})
}

// TestCatchUpStopsAtRingFloor checks that a listener that finds no events in the store
// advances to the floor that it read, and not past events that came later.
func TestCatchUpStopsAtRingFloor(t *testing.T) {
	t.Parallel()
	s := outboxtest.OpenWorld(t, storetest.SQLite(t))
	hub, q := runHub(t, s), outboxtest.NewSequencer(s)
	quick, zero := subscribe(t, hub, nil), int64(0)
	behind := subscribe(t, hub, &zero)
	for range 5 { // more than the ring holds
		sequenceMany(t, s, q, 2000)
		receive(t, quick, 2000)
	}
	if _, err := s.DB().Exec("DELETE FROM events"); err != nil {
		t.Fatal(err)
	}
	page, err := behind.FromStore(t.Context(), 100)
	if err != nil || len(page) > 0 || behind.Position() != 100 {
		t.Errorf("got %d events (%v) and position %d, want none and 100", len(page), err, behind.Position())
	}
}
