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
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/outbox"
	"github.com/moderato-live/moderato/server/outbox/outboxtest"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/watch"
)

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

// TestAClockThatIsSetBackTurnsNothingRound writes more than a batch, each event
// of the channel before the one that went before it.
func TestAClockThatIsSetBackTurnsNothingRound(t *testing.T) {
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

// TestAnEventThatSeemsLaterIsNotPassedOver has the clock ahead for one event of a
// channel, which is not in the first batch then, as those around it are.
func TestAnEventThatSeemsLaterIsNotPassedOver(t *testing.T) {
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

func TestWhoLostTheLeaseWritesNothing(t *testing.T) {
	outboxtest.EachWorld(t, func(t *testing.T, s *store.Store) {
		stale, next := outboxtest.NewSequencer(s), outboxtest.NewSequencer(s)
		outboxtest.Turn(t, stale)
		if err := outboxtest.Emit(s, servertest.Owner, 1); err != nil {
			t.Fatal(err)
		}
		outboxtest.Turn(t, next) // the lease is taken
		if _, waiting := rows(t, s); len(waiting) != 1 {
			t.Fatalf("one without the lease gave positions: %d events wait, want 1", len(waiting))
		}
		s.Clock.Advance(5 * time.Second)
		next = outboxtest.NewSequencer(s) // which has not asked yet
		outboxtest.Turn(t, next)
		checkOrder(t, s, 1)
		if err := outboxtest.Emit(s, servertest.Owner, 2); err != nil {
			t.Fatal(err)
		}
		outboxtest.Turn(t, stale)
		if _, waiting := rows(t, s); len(waiting) != 2 {
			t.Errorf("who lost the lease gave positions: %d events wait, want 2", len(waiting))
		}
		outboxtest.Turn(t, next)
		checkOrder(t, s, 3)
	})
}

func TestALeaseThatIsGivenUpIsTakenAtOnce(t *testing.T) {
	outboxtest.EachWorld(t, func(t *testing.T, s *store.Store) {
		ctx, cancel := context.WithCancel(context.Background())
		first := outboxtest.NewSequencer(s)
		sequenced := make(chan struct{}, 100)
		first.Sequenced = func() { sequenced <- struct{}{} }
		ended := make(chan struct{})
		go func() { defer close(ended); outboxtest.RunJobs(ctx, first.Job()) }()
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

// TestWhoTailsByIDMissesEvents shows why there are positions: the id of a
// transaction that takes its time is behind those of later ones that a listener
// has seen already.
func TestWhoTailsByIDMissesEvents(t *testing.T) {
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
		seen, _ := rows(t, s)
		close(finish)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		outboxtest.Turn(t, q)
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
	outboxtest.EachWorld(t, func(t *testing.T, s *store.Store) {
		hub := watch.NewHub(s, slog.New(slog.DiscardHandler))
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
					err := outboxtest.EmitThen(s, channel, 1+r.IntN(2), func() error {
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
		var heard []*outbox.Event
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
func restartSequencers(ctx context.Context, s *store.Store, hub *watch.Hub, restarts int, stop <-chan struct{}) {
	for range restarts {
		run, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
		var both sync.WaitGroup
		for range 2 {
			q := outboxtest.NewSequencer(s)
			q.Sequenced = hub.Wake
			both.Go(func() { outboxtest.RunJobs(run, q.Job()) })
		}
		both.Wait()
		cancel()
	}
	run, cancel := context.WithCancel(ctx)
	q := outboxtest.NewSequencer(s)
	q.Sequenced = hub.Wake
	go func() { <-stop; cancel() }()
	outboxtest.RunJobs(run, q.Job())
}

// TestAHangingTransactionKeepsTheLeaseFromNobody has a transaction hold the lease's
// row and fall silent, as one of a process that was stopped.
func TestAHangingTransactionKeepsTheLeaseFromNobody(t *testing.T) {
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		s := outboxtest.OpenWorld(t, url)
		if err := outboxtest.Emit(s, servertest.Owner, 1); err != nil {
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
		outboxtest.Turn(t, outboxtest.NewSequencer(s))
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
