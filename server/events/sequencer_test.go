package events_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/events"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
	"github.com/moderato-live/moderato/server/uid"
)

// eachWorld runs a test on the World in a store of each kind, without a server.
func eachWorld(t *testing.T, test func(t *testing.T, s *store.Store)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, url store.URL) { test(t, openWorld(t, url)) })
}

func openWorld(t *testing.T, url store.URL) *store.Store {
	t.Helper()
	ctx := context.Background()
	storetest.Migrate(t, url)
	s, err := store.Open(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	servertest.Import(t, s, servertest.World()...)
	return s
}

func newSequencer(s *store.Store) *events.Sequencer {
	return events.NewSequencer(s, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
}

// emit writes n events of a channel in one transaction, after hold.
func emit(s *store.Store, channelID uid.ID, n int, hold func() error) error {
	return events.ApplyUnattended(context.Background(), s, channelID, func(_ context.Context, c *events.Change) error {
		for range n {
			c.Emit(events.ClearUserMessages, servertest.Viewer, &moderatov1.ClearUserMessagesEvent{ChannelId: channelID.String()})
		}
		return hold()
	})
}

func now() error { return nil }

func turn(t *testing.T, q *events.Sequencer) {
	t.Helper()
	if err := q.Turn(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// placed is an event row as it is in the order.
type placed struct {
	channelID uid.ID
	sequence  int64
	position  *int64
	id        uid.ID
}

// rows are all events: those with a position in their order, then the others.
func rows(t *testing.T, s *store.Store) (sequenced, waiting []placed) {
	t.Helper()
	err := store.QueryEach(context.Background(), s.Read, "SELECT channel_id, sequence, position, id FROM events ORDER BY position, channel_id, sequence", nil,
		func(scan func(...any) error) error {
			var p placed
			err := scan(&p.channelID, &p.sequence, &p.position, &p.id)
			if p.position == nil {
				waiting = append(waiting, p)
			} else {
				sequenced = append(sequenced, p)
			}
			return err
		})
	if err != nil {
		t.Fatal(err)
	}
	return sequenced, waiting
}

// checkOrder checks that positions are dense from 1, and that each channel's
// sequence is in order and dense, too.
func checkOrder(t *testing.T, s *store.Store, want int) {
	t.Helper()
	sequenced, waiting := rows(t, s)
	if len(waiting) > 0 {
		t.Errorf("%d events have no position", len(waiting))
	}
	if len(sequenced) != want {
		t.Errorf("%d events have a position, want %d", len(sequenced), want)
	}
	next := map[uid.ID]int64{}
	for i, p := range sequenced {
		if *p.position != int64(i+1) {
			t.Fatalf("the %d. event has the position %d", i+1, *p.position)
		}
		if next[p.channelID]++; p.sequence != next[p.channelID] {
			t.Fatalf("position %d is of sequence %d in its channel, want %d", *p.position, p.sequence, next[p.channelID])
		}
	}
}

func TestEventsGetDensePositionsInTheOrderOfTheirChannel(t *testing.T) {
	eachWorld(t, func(t *testing.T, s *store.Store) {
		q := newSequencer(s)
		for i := range 5 {
			for _, channel := range []uid.ID{servertest.Owner, servertest.Other} {
				if err := emit(s, channel, i+1, now); err != nil {
					t.Fatal(err)
				}
			}
			turn(t, q)
		}
		checkOrder(t, s, 30)
	})
}

// TestAClockThatIsSetBackTurnsNothingRound writes more than a batch, each event
// of the channel before the one that went before it.
func TestAClockThatIsSetBackTurnsNothingRound(t *testing.T) {
	eachWorld(t, func(t *testing.T, s *store.Store) {
		at := instant.Of(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
		for i := range 6 {
			s.Clock.Freeze(at.Add(-time.Duration(i) * time.Minute))
			for _, channel := range []uid.ID{servertest.Owner, servertest.Other} {
				if err := emit(s, channel, 250, now); err != nil {
					t.Fatal(err)
				}
			}
		}
		s.Clock.Freeze(0)
		q := newSequencer(s)
		turn(t, q)
		checkOrder(t, s, 3000)
	})
}

// TestAnEventThatSeemsLaterIsNotPassedOver has the clock ahead for one event of a
// channel, which is not in the first batch then, as those around it are.
func TestAnEventThatSeemsLaterIsNotPassedOver(t *testing.T) {
	eachWorld(t, func(t *testing.T, s *store.Store) {
		at := instant.Of(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
		for _, after := range []time.Duration{0, time.Hour, time.Millisecond} {
			s.Clock.Freeze(at.Add(after))
			if err := emit(s, servertest.Owner, 1, now); err != nil {
				t.Fatal(err)
			}
		}
		for range 5 {
			if err := emit(s, servertest.Other, 300, now); err != nil {
				t.Fatal(err)
			}
		}
		s.Clock.Freeze(0)
		turn(t, newSequencer(s))
		checkOrder(t, s, 1503)
	})
}

func TestWhoLostTheLeaseWritesNothing(t *testing.T) {
	eachWorld(t, func(t *testing.T, s *store.Store) {
		stale, next := newSequencer(s), newSequencer(s)
		turn(t, stale)
		if err := emit(s, servertest.Owner, 1, now); err != nil {
			t.Fatal(err)
		}
		turn(t, next) // the lease is taken
		if _, waiting := rows(t, s); len(waiting) != 1 {
			t.Fatalf("one without the lease gave positions: %d events wait, want 1", len(waiting))
		}
		s.Clock.Advance(5 * time.Second)
		next = newSequencer(s) // which has not asked yet
		turn(t, next)
		checkOrder(t, s, 1)
		if err := emit(s, servertest.Owner, 2, now); err != nil {
			t.Fatal(err)
		}
		turn(t, stale)
		if _, waiting := rows(t, s); len(waiting) != 2 {
			t.Errorf("who lost the lease gave positions: %d events wait, want 2", len(waiting))
		}
		turn(t, next)
		checkOrder(t, s, 3)
	})
}

func TestALeaseThatIsGivenUpIsTakenAtOnce(t *testing.T) {
	eachWorld(t, func(t *testing.T, s *store.Store) {
		ctx, cancel := context.WithCancel(context.Background())
		first := newSequencer(s)
		sequenced := make(chan struct{}, 100)
		first.Sequenced = func() { sequenced <- struct{}{} }
		ended := make(chan struct{})
		go func() { defer close(ended); first.Run(ctx) }()
		if err := emit(s, servertest.Owner, 1, now); err != nil {
			t.Fatal(err)
		}
		<-sequenced
		cancel()
		<-ended
		if err := emit(s, servertest.Owner, 1, now); err != nil {
			t.Fatal(err)
		}
		turn(t, newSequencer(s))
		checkOrder(t, s, 2)
	})
}

// TestWhoTailsByIDMissesEvents shows why there are positions: the id of a
// transaction that takes its time is behind those of later ones that a listener
// has seen already.
func TestWhoTailsByIDMissesEvents(t *testing.T) {
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		s := openWorld(t, url)
		q := newSequencer(s)
		begun, finish, done := make(chan struct{}), make(chan struct{}), make(chan error)
		go func() {
			done <- emit(s, servertest.Owner, 1, func() error { close(begun); <-finish; return nil })
		}()
		<-begun
		if err := emit(s, servertest.Other, 1, now); err != nil {
			t.Fatal(err)
		}
		turn(t, q)
		seen, _ := rows(t, s)
		close(finish)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		turn(t, q)
		checkOrder(t, s, 2)
		all, _ := rows(t, s)
		late := all[1]
		if late.channelID != servertest.Owner || slices.Compare(late.id[:], seen[0].id[:]) > 0 {
			t.Errorf("the late event has the id %s after %s: tailing by id would have found it", late.id, seen[0].id)
		}
	})
}

// TestNothingIsMissedWhateverWritersAndSequencersDo has writers that hold their
// transactions open, some of which roll back, sequencers that come and go, and a
// listener.
func TestNothingIsMissedWhateverWritersAndSequencersDo(t *testing.T) {
	const writers, writes, restarts = 6, 40, 20
	eachWorld(t, func(t *testing.T, s *store.Store) {
		hub := events.NewHub(s, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var background, all sync.WaitGroup
		background.Go(func() { hub.Run(ctx) })
		listener, err := hub.Subscribe(ctx, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		for w := range writers {
			all.Go(func() {
				r := rand.New(rand.NewPCG(7, uint64(w)))
				for range writes {
					channel := []uid.ID{servertest.Owner, servertest.Other}[r.IntN(2)]
					rollBack := r.IntN(10) == 0
					pause := time.Duration(r.IntN(4)) * time.Millisecond
					err := emit(s, channel, 1+r.IntN(2), func() error {
						<-time.After(pause) // a transaction that takes its time
						if rollBack {
							return errRollBack
						}
						return nil
					})
					if (err != nil) != rollBack {
						t.Errorf("emit: %v", err)
					}
				}
			})
		}
		stop := make(chan struct{})
		background.Go(func() { restartSequencers(ctx, s, hub, restarts, stop) })
		all.Wait()
		written := s.Read.Event.Query().CountX(ctx)
		var heard []*events.Event
		for deadline := time.After(20 * time.Second); len(heard) < written; {
			page, err := listener.Next(ctx, deadline)
			if err != nil || len(page) == 0 {
				t.Fatalf("heard %d of %d events: %v", len(heard), written, err)
			}
			heard = append(heard, page...)
		}
		for i, e := range heard {
			if e.Position != int64(i+1) {
				t.Fatalf("the %d. event heard has the position %d", i+1, e.Position)
			}
		}
		checkOrder(t, s, written)
		close(stop)
		cancel()
		background.Wait()
	})
}

var errRollBack = errors.New("roll back")

// restartSequencers runs two sequencers that end now and then, until stop.
func restartSequencers(ctx context.Context, s *store.Store, hub *events.Hub, restarts int, stop <-chan struct{}) {
	for range restarts {
		run, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
		var both sync.WaitGroup
		for range 2 {
			q := newSequencer(s)
			q.Sequenced = hub.Wake
			both.Go(func() { q.Run(run) })
		}
		both.Wait()
		cancel()
	}
	run, cancel := context.WithCancel(ctx)
	q := newSequencer(s)
	q.Sequenced = hub.Wake
	go func() { <-stop; cancel() }()
	q.Run(run)
}

// TestAHangingTransactionKeepsTheLeaseFromNobody has a transaction hold the lease's
// row and fall silent, as one of a process that was stopped.
func TestAHangingTransactionKeepsTheLeaseFromNobody(t *testing.T) {
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		s := openWorld(t, url)
		if err := emit(s, servertest.Owner, 1, now); err != nil {
			t.Fatal(err)
		}
		holds, release, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		var once sync.Once
		go func() {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			ended <- s.WriteBounded(ctx, time.Second, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
				if err := tx.EventSequencer.UpdateOneID(1).SetLastPosition(1_000_000).Exec(ctx); err != nil {
					return err
				}
				once.Do(func() { close(holds) })
				<-release
				cancel() // it is not to be tried again
				return ctx.Err()
			})
		}()
		<-holds
		began := time.Now()
		turn(t, newSequencer(s))
		checkOrder(t, s, 1)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it took %s", took)
		}
		close(release)
		if err := <-ended; err == nil {
			t.Error("the transaction that hung was committed")
		}
	})
}
