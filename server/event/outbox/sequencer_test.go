package outbox_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/event/outbox/outboxtest"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// eventRow has the columns of an event that determine its order.
type eventRow struct {
	channelID uid.ID
	sequence  int64
	position  *int64
	id        uid.ID
}

// rows returns all events: those with a position in that order, and those without.
func rows(t *testing.T, s *store.Store) (sequenced, unsequenced []eventRow) {
	t.Helper()
	err := store.QueryEach(context.Background(), s.Read, "SELECT channel_id, sequence, position, id FROM events ORDER BY position, channel_id, sequence", nil,
		func(scan func(...any) error) error {
			var p eventRow
			err := scan(&p.channelID, &p.sequence, &p.position, &p.id)
			if p.position == nil {
				unsequenced = append(unsequenced, p)
			} else {
				sequenced = append(sequenced, p)
			}
			return err
		})
	if err != nil {
		t.Fatal(err)
	}
	return sequenced, unsequenced
}

// checkOrder checks that all events have positions, which are dense from 1, and that the
// sequences of each channel are dense in the order of the positions.
func checkOrder(t *testing.T, s *store.Store, want int) {
	t.Helper()
	sequenced, unsequenced := rows(t, s)
	if len(unsequenced) > 0 {
		t.Errorf("got %d events without a position, want none", len(unsequenced))
	}
	if len(sequenced) != want {
		t.Errorf("got %d events with a position, want %d", len(sequenced), want)
	}
	next := map[uid.ID]int64{}
	for i, p := range sequenced {
		if *p.position != int64(i+1) {
			t.Fatalf("got position %d after %d, want dense positions", *p.position, i)
		}
		if next[p.channelID]++; p.sequence != next[p.channelID] {
			t.Fatalf("sequence at position %d: got %d, want %d", *p.position, p.sequence, next[p.channelID])
		}
	}
}

func TestSequencerAssignsDensePositionsInChannelOrder(t *testing.T) {
	outboxtest.EachWorld(t, func(t *testing.T, s *store.Store) {
		q := outboxtest.NewSequencer(s)
		for i := range 5 {
			for _, channel := range []uid.ID{servertest.Owner, servertest.Other} {
				if err := outboxtest.Emit(s, channel, i+1); err != nil {
					t.Fatal(err)
				}
			}
			outboxtest.Turn(t, q)
		}
		checkOrder(t, s, 30)
	})
}

// TestSequencerKeepsOrderWhenClockGoesBack writes more than a batch of events while the clock
// is set back repeatedly, so that later events of a channel have earlier times.
func TestSequencerKeepsOrderWhenClockGoesBack(t *testing.T) {
	outboxtest.EachWorld(t, func(t *testing.T, s *store.Store) {
		at := instant.Of(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
		for i := range 6 {
			s.Clock.Freeze(at.Add(-time.Duration(i) * time.Minute))
			for _, channel := range []uid.ID{servertest.Owner, servertest.Other} {
				if err := outboxtest.Emit(s, channel, 250); err != nil {
					t.Fatal(err)
				}
			}
		}
		s.Clock.Freeze(0)
		q := outboxtest.NewSequencer(s)
		outboxtest.Turn(t, q)
		checkOrder(t, s, 3000)
	})
}

// TestSequencerDoesNotSkipEventWithLaterTime sets the clock ahead for one event of a channel.
// By time, this event is not in the first batch, but the events before and after it are.
func TestSequencerDoesNotSkipEventWithLaterTime(t *testing.T) {
	outboxtest.EachWorld(t, func(t *testing.T, s *store.Store) {
		at := instant.Of(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
		for _, after := range []time.Duration{0, time.Hour, time.Millisecond} {
			s.Clock.Freeze(at.Add(after))
			if err := outboxtest.Emit(s, servertest.Owner, 1); err != nil {
				t.Fatal(err)
			}
		}
		for range 5 {
			if err := outboxtest.Emit(s, servertest.Other, 300); err != nil {
				t.Fatal(err)
			}
		}
		s.Clock.Freeze(0)
		outboxtest.Turn(t, outboxtest.NewSequencer(s))
		checkOrder(t, s, 1503)
	})
}

func TestSequencerWithoutLeaseWritesNothing(t *testing.T) {
	outboxtest.EachWorld(t, func(t *testing.T, s *store.Store) {
		stale, next := outboxtest.NewSequencer(s), outboxtest.NewSequencer(s)
		outboxtest.Turn(t, stale)
		if err := outboxtest.Emit(s, servertest.Owner, 1); err != nil {
			t.Fatal(err)
		}
		outboxtest.Turn(t, next) // stale holds the lease
		if _, unsequenced := rows(t, s); len(unsequenced) != 1 {
			t.Fatalf("turn of a sequencer that never held the lease: got %d events without a position, want 1", len(unsequenced))
		}
		s.Clock.Advance(5 * time.Second)
		next = outboxtest.NewSequencer(s) // a new one tries to acquire the lease immediately
		outboxtest.Turn(t, next)
		checkOrder(t, s, 1)
		if err := outboxtest.Emit(s, servertest.Owner, 2); err != nil {
			t.Fatal(err)
		}
		outboxtest.Turn(t, stale)
		if _, unsequenced := rows(t, s); len(unsequenced) != 2 {
			t.Errorf("turn of a sequencer that lost the lease: got %d events without a position, want 2", len(unsequenced))
		}
		outboxtest.Turn(t, next)
		checkOrder(t, s, 3)
	})
}

func TestReleasedLeaseIsAcquiredImmediately(t *testing.T) {
	outboxtest.EachWorld(t, func(t *testing.T, s *store.Store) {
		ctx, cancel := context.WithCancel(context.Background())
		first := outboxtest.NewSequencer(s)
		sequenced := make(chan struct{}, 100)
		first.Sequenced = func() { sequenced <- struct{}{} }
		ended := make(chan struct{})
		go func() { defer close(ended); outboxtest.RunJobs(ctx, s, first.Job()) }()
		if err := outboxtest.Emit(s, servertest.Owner, 1); err != nil {
			t.Fatal(err)
		}
		<-sequenced
		cancel()
		<-ended
		if err := outboxtest.Emit(s, servertest.Owner, 1); err != nil {
			t.Fatal(err)
		}
		outboxtest.Turn(t, outboxtest.NewSequencer(s))
		checkOrder(t, s, 2)
	})
}

// TestTailingByIDMissesEvents shows why events have positions: the event of a slow
// transaction has a lower id than the events of later transactions, which a listener may
// have received before the slow one commits.
func TestTailingByIDMissesEvents(t *testing.T) {
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		s := outboxtest.OpenWorld(t, url)
		q := outboxtest.NewSequencer(s)
		begun, finish, done := make(chan struct{}), make(chan struct{}), make(chan error)
		go func() {
			done <- outboxtest.EmitThen(s, servertest.Owner, 1, func() error { close(begun); <-finish; return nil })
		}()
		<-begun
		if err := outboxtest.Emit(s, servertest.Other, 1); err != nil {
			t.Fatal(err)
		}
		outboxtest.Turn(t, q)
		received, _ := rows(t, s)
		close(finish)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		outboxtest.Turn(t, q)
		checkOrder(t, s, 2)
		all, _ := rows(t, s)
		late := all[1]
		if late.channelID != servertest.Owner || slices.Compare(late.id[:], received[0].id[:]) > 0 {
			t.Errorf("the late event has the id %s, want one lower than %s", late.id, received[0].id)
		}
	})
}

// TestListenerReceivesEveryCommittedEvent runs slow writers, some of which roll back, together
// with sequencers that restart. A listener receives every committed event in order.
func TestListenerReceivesEveryCommittedEvent(t *testing.T) {
	const writers, writes, restarts = 6, 40, 20
	outboxtest.EachWorld(t, func(t *testing.T, s *store.Store) {
		hub := watch.NewHub(s, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var background, all sync.WaitGroup
		background.Go(func() { outboxtest.RunJobs(ctx, s, hub.Job()) })
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
					err := outboxtest.EmitThen(s, channel, 1+r.IntN(2), func() error {
						<-time.After(pause) // a slow transaction
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
		written := storetest.Must(s.Read.Event.Query().Count(ctx))
		var received []*outbox.Event
		for deadline := time.After(20 * time.Second); len(received) < written; {
			page, err := listener.Next(ctx, deadline)
			if err != nil || len(page) == 0 {
				t.Fatalf("got %d of %d events: %v", len(received), written, err)
			}
			received = append(received, page...)
		}
		for i, e := range received {
			if e.Position != int64(i+1) {
				t.Fatalf("got position %d after %d, want dense positions", e.Position, i)
			}
		}
		checkOrder(t, s, written)
		close(stop)
		cancel()
		background.Wait()
	})
}

var errRollBack = errors.New("roll back")

// restartSequencers runs two sequencers, restarts them repeatedly, and then runs one until
// stop is closed.
func restartSequencers(ctx context.Context, s *store.Store, hub *watch.Hub, restarts int, stop <-chan struct{}) {
	for range restarts {
		run, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
		var both sync.WaitGroup
		for range 2 {
			q := outboxtest.NewSequencer(s)
			q.Sequenced = hub.Wake
			both.Go(func() { outboxtest.RunJobs(run, s, q.Job()) })
		}
		both.Wait()
		cancel()
	}
	run, cancel := context.WithCancel(ctx)
	q := outboxtest.NewSequencer(s)
	q.Sequenced = hub.Wake
	go func() { <-stop; cancel() }()
	outboxtest.RunJobs(run, s, q.Job())
}

// TestHungTransactionDoesNotBlockLease locks the row of the lease in a transaction that sends
// no more statements, like that of a suspended process.
func TestHungTransactionDoesNotBlockLease(t *testing.T) {
	for name, where := range map[string]hang{
		"in its body":       {inBody: true},
		"before its COMMIT": {},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.EachServer(t, func(t *testing.T, url store.URL) { checkHungTransaction(t, url, where) })
		})
	}
}

func checkHungTransaction(t *testing.T, url store.URL, where hang) {
	t.Helper()
	s := outboxtest.OpenWorld(t, url)
	if err := outboxtest.Emit(s, servertest.Owner, 1); err != nil {
		t.Fatal(err)
	}
	where.holds, where.release = make(chan struct{}), make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithCancel(context.WithValue(context.Background(), store.HookKey{}, &where))
		defer cancel()
		where.leave = cancel
		ended <- s.WriteBounded(ctx, time.Second, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			if err := tx.EventSequencer.UpdateOneID(1).SetLastPosition(1_000_000).Exec(ctx); err != nil || !where.inBody {
				return err
			}
			return where.hang(ctx)
		})
	}()
	<-where.holds
	began := time.Now()
	outboxtest.Turn(t, outboxtest.NewSequencer(s))
	checkOrder(t, s, 1)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the sequencer waited %s for the lease, want at most 5 s", took)
	}
	close(where.release)
	if err := <-ended; err == nil {
		t.Error("the hung transaction was committed")
	}
}

// hang is the Hook of a transaction that hangs.
type hang struct {
	inBody         bool // otherwise after it
	holds, release chan struct{}
	leave          context.CancelFunc
}

func (h *hang) hang(ctx context.Context) error {
	close(h.holds)
	<-h.release
	h.leave() // so that it is not retried
	return ctx.Err()
}

func (*hang) Begin(context.Context, *store.Store, *ent.Tx, store.Attempt) error { return nil }

func (h *hang) End(ctx context.Context, _ *ent.Tx) error {
	if h.inBody {
		return nil
	}
	return h.hang(ctx)
}
