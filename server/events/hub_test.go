package events_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/events"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
)

// runHub runs a hub that ends with the test.
func runHub(t *testing.T, s *store.Store) *events.Hub {
	t.Helper()
	hub := events.NewHub(s, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); hub.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return hub
}

// sequenceMany writes n events of the World's channel and gives them positions.
func sequenceMany(t *testing.T, s *store.Store, q *events.Sequencer, n int) {
	t.Helper()
	if err := emit(s, servertest.Owner, n, now); err != nil {
		t.Fatal(err)
	}
	turn(t, q)
}

func subscribe(t *testing.T, hub *events.Hub, after *int64) *events.Subscription {
	t.Helper()
	s, err := hub.Subscribe(context.Background(), after)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// hear takes n events and checks that none is missing after the position.
func hear(t *testing.T, s *events.Subscription, n int) {
	t.Helper()
	next := s.Position() + 1
	for deadline := time.After(20 * time.Second); n > 0; {
		page, err := s.Next(context.Background(), deadline)
		if err != nil || len(page) == 0 {
			t.Fatalf("%d events are missing: %v", n, err)
		}
		for _, e := range page {
			if e.Position != next {
				t.Fatalf("heard position %d, want %d", e.Position, next)
			}
			next++
			n--
		}
	}
}

func TestListenersGoOnFromTheirPosition(t *testing.T) {
	eachWorld(t, func(t *testing.T, s *store.Store) {
		hub, q := runHub(t, s), newSequencer(s)
		sequenceMany(t, s, q, 1200) // more than two pages
		live := subscribe(t, hub, nil)
		zero := int64(0)
		fromStart := subscribe(t, hub, &zero)
		hear(t, fromStart, 1200)
		sequenceMany(t, s, q, 700)
		hear(t, live, 700)
		hear(t, fromStart, 700)
		middle := int64(1000)
		hear(t, subscribe(t, hub, &middle), 900)
	})
}

func TestAListenerWhoFallsBehindIsTold(t *testing.T) {
	eachWorld(t, func(t *testing.T, s *store.Store) {
		hub, q := runHub(t, s), newSequencer(s)
		slow, quick := subscribe(t, hub, nil), subscribe(t, hub, nil)
		none := make(chan time.Time, 1)
		none <- time.Time{}
		if page, err := slow.Next(context.Background(), none); len(page) > 0 || err != nil {
			t.Fatalf("nothing happened, and heard %d events (%v)", len(page), err)
		}
		for range 5 { // more than the hub keeps
			sequenceMany(t, s, q, 2000)
			hear(t, quick, 2000)
		}
		if _, err := slow.Next(context.Background(), none); !errors.Is(err, events.ErrTooSlow) {
			t.Errorf("got %v, want ErrTooSlow", err)
		}
		zero := int64(0)
		hear(t, subscribe(t, hub, &zero), 10_000) // and can go on from where they were
	})
}

func TestAPositionThatRetentionPassedIsRefused(t *testing.T) {
	eachWorld(t, func(t *testing.T, s *store.Store) {
		hub, q := runHub(t, s), newSequencer(s)
		sequenceMany(t, s, q, 10)
		if _, err := s.DB().Exec("UPDATE event_sequencers SET trimmed_position = 5"); err != nil {
			t.Fatal(err)
		}
		for position, want := range map[int64]error{4: events.ErrTrimmed, 5: nil, 10: nil, 11: events.ErrTrimmed} {
			from, err := hub.Subscribe(context.Background(), &position)
			if !errors.Is(err, want) {
				t.Errorf("after position %d: got %v, want %v", position, err, want)
			}
			if err == nil {
				from.Close()
			}
		}
	})
}
