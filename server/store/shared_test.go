package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"entgo.io/ent/dialect"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/fair"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
	"github.com/moderato-live/moderato/server/uid"
)

func TestWaitingChangesShareTransaction(t *testing.T) {
	eachCrowd(t, func(c *crowd, _ *storetest.Cutter) {
		release, first := c.hold(1)
		seesAll := func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			if n, err := tx.Category.Query().Count(ctx); err != nil || n != 3 {
				c.Errorf("the last change sees %d rows (%v), want its own and those of the two before", n, err)
			}
			select {
			case err := <-first:
				c.Errorf("the first change ended before the commit: %v", err)
			default:
			}
			return nil
		}
		others := c.queue(c.create(2), c.create(3, seesAll))
		release()
		c.wantSuccess(append(others, first)...)
		c.wantRows(1, 2, 3)
		if n := c.transactions(); n != 1 || len(c.runs) != 3 {
			c.Errorf("%d transactions ran %d bodies, want 1 and 3", n, len(c.runs))
		}
	})
}

// TestTransactionIsSharedByBoundedNumber queues more changes than one transaction takes.
func TestTransactionIsSharedByBoundedNumber(t *testing.T) {
	eachCrowd(t, func(c *crowd, _ *storetest.Cutter) {
		release, first := c.hold(1)
		var bodies []changeBody
		for id := range int64(store.MaxShares) {
			bodies = append(bodies, c.create(id+2))
		}
		others := c.queue(bodies...)
		release()
		c.wantSuccess(append(others, first)...)
		if n := c.transactions(); n < 2 {
			c.Errorf("%d changes shared %d transaction, want at most %d in one", store.MaxShares+1, n, store.MaxShares)
		}
		if len(c.runs) != store.MaxShares+1 {
			c.Errorf("%d bodies ran, want %d", len(c.runs), store.MaxShares+1)
		}
	})
}

// TestChangesDoNotShareIfDisabled queues changes on a store that does not let them share a
// transaction.
func TestChangesDoNotShareIfDisabled(t *testing.T) {
	eachCrowdWith(t, store.Options{DisableSharing: true}, func(c *crowd, _ *storetest.Cutter) {
		release, first := c.hold(1)
		others := c.queue(c.create(2), c.create(3))
		release()
		c.wantSuccess(append(others, first)...)
		if n := c.transactions(); n != 3 {
			c.Errorf("three changes ran in %d transactions", n)
		}
	})
}

// TestModeratorDoesNotWaitForOthersToShare queues a change of a moderator among others. It
// joins the transaction that runs, which is then committed at once.
func TestModeratorDoesNotWaitForOthersToShare(t *testing.T) {
	eachCrowd(t, func(c *crowd, _ *storetest.Cutter) {
		release, first := c.hold(1)
		others := c.queue(c.create(2), c.create(3))
		moderator := c.start(fair.WithPriority(t.Context(), fair.High), c.create(4))
		c.waitForWaiting(3)
		release()
		c.wantSuccess(append(others, first, moderator)...)
		shares := make([]bool, len(c.runs))
		for i, r := range c.runs {
			shares[i] = r.tx == c.runs[0].tx
		}
		if !slices.Equal(shares, []bool{true, true, false, false}) || c.runs[1].id != 4 {
			c.Errorf("the bodies %+v ran, want the moderator's in the transaction of the first, and the others in another one", c.runs)
		}
	})
}

// note is a Finisher that creates a category.
type note int64

func (n note) Finish(ctx context.Context, tx *ent.Tx, _ []store.Finisher) error {
	return createCategories(int64(n))(ctx, tx, store.Attempt{})
}

// leave returns a body that adds 1 to the note that earlier bodies left.
func leave(_ context.Context, _ *ent.Tx, a store.Attempt) error {
	before, _ := a.Common.Left("note").(note)
	a.Common.Leave("note", max(before, 1000)+1)
	return nil
}

func TestFailedChangeIsUndoneAlone(t *testing.T) {
	eachCrowd(t, func(c *crowd, _ *storetest.Cutter) {
		release, first := c.hold(1)
		refused := errors.New("refused")
		others := c.queue(
			c.create(2, leave),
			c.create(3, leave, func(context.Context, *ent.Tx, store.Attempt) error { return refused }),
			c.create(4, leave),
			c.create(2), // a duplicate: the statement itself fails
			c.create(5),
		)
		release()
		c.wantSuccess(first, others[0], others[2], others[4])
		if err := <-others[1]; !errors.Is(err, refused) {
			c.Errorf("got %v, want the error of the body", err)
		}
		if err := <-others[3]; !c.IsDuplicate(err) {
			c.Errorf("got %v, want a duplicate", err)
		}
		c.wantRows(1, 2, 4, 5, 1002)
		if n := c.transactions(); n != 1 {
			c.Errorf("%d transactions, want 1", n)
		}
	})
}

// TestFirstChangeFailsAlone lets the change fail that began the transaction.
func TestFirstChangeFailsAlone(t *testing.T) {
	eachCrowd(t, func(c *crowd, _ *storetest.Cutter) {
		refused := errors.New("refused")
		held, released := make(chan struct{}), make(chan struct{})
		first := c.start(c.Context(), c.create(1, func(context.Context, *ent.Tx, store.Attempt) error {
			close(held)
			<-released
			return refused
		}))
		<-held
		others := c.queue(c.create(2), c.create(3))
		close(released)
		if err := <-first; !errors.Is(err, refused) {
			c.Errorf("got %v, want the error of the body", err)
		}
		c.wantSuccess(others...)
		c.wantRows(2, 3)
	})
}

// TestChangesOfBrokenTransactionAreRetried breaks the connection in the middle of a shared
// transaction, or lets a body panic: every other change happens once.
func TestChangesOfBrokenTransactionAreRetried(t *testing.T) {
	eachCrowd(t, func(c *crowd, cutter *storetest.Cutter) {
		release, first := c.hold(1)
		others := c.queue(
			c.create(2),
			func(ctx context.Context, tx *ent.Tx, a store.Attempt) error {
				if a.Unknown {
					c.Error("the transaction was rolled back, but its outcome is called unknown")
				}
				return c.create(3)(ctx, tx, a)
			},
		)
		panicked := make(chan any, 1)
		go func() {
			defer func() { panicked <- recover() }()
			turn, err := c.ChangeQueues.AcquireOrJoin(c.Context(), c.channel)
			if err == nil {
				err = c.WriteShared(c.Context(), turn, func(ctx context.Context, tx *ent.Tx, a store.Attempt) error {
					_ = createCategories(4)(ctx, tx, a)
					panic("boom")
				})
			}
			c.Errorf("the body did not panic: %v", err)
		}()
		c.waitForWaiting(3)
		release()
		if got := <-panicked; got != "boom" {
			c.Errorf("recovered %v", got)
		}
		c.wantSuccess(append(others, first)...)
		c.wantRows(1, 2, 3)
		if len(c.runs) != 6 {
			c.Errorf("the bodies ran %d times, want each twice", len(c.runs))
		}
	})
}

// TestLostCommitIsResolvedForEachChange loses the connection in the COMMIT of a shared
// transaction.
func TestLostCommitIsResolvedForEachChange(t *testing.T) {
	for name, cuts := range map[string][]storetest.Cut{
		"before it happened":          {storetest.BeforeCommit},
		"before its answer came back": {storetest.AfterCommit},
		"a while before it happens":   {storetest.LateCommit},
	} {
		t.Run(name, func(t *testing.T) {
			eachCrowd(t, func(c *crowd, cutter *storetest.Cutter) {
				cutter.CutNext("WriteShared", cuts...)
				release, first := c.hold(1)
				refused := errors.New("refused")
				others := c.queue(c.create(2), c.create(3, func(context.Context, *ent.Tx, store.Attempt) error { return refused }), c.create(4))
				release()
				c.wantSuccess(first, others[0], others[2])
				if err := <-others[1]; !errors.Is(err, refused) {
					c.Errorf("got %v, want the error of the body", err)
				}
				c.wantRows(1, 2, 4)
				if cutter.Made() != 1 {
					c.Errorf("%d cuts were made, want 1", cutter.Made())
				}
				for _, r := range c.runs[4:] {
					if want := r.id != 3; r.attempt.Unknown != want {
						c.Errorf("change %d is repeated, and an unknown outcome is %t, want %t", r.id, r.attempt.Unknown, want)
					}
				}
			})
		})
	}
}

// TestCallerLeavesSharedTransaction cancels a change whose body has run: that does not
// disturb the others. An embedded store tells the caller what became of the change.
func TestCallerLeavesSharedTransaction(t *testing.T) {
	eachCrowd(t, func(c *crowd, _ *storetest.Cutter) {
		release, first := c.hold(1)
		ctx, leave := context.WithCancel(c.Context())
		leaves := c.start(ctx, c.create(2))
		c.waitForWaiting(1)
		last := c.queue(c.create(3, func(context.Context, *ent.Tx, store.Attempt) error {
			leave()
			if c.Store.Name() == dialect.SQLite {
				return nil
			}
			if err := <-leaves; !errors.Is(err, context.Canceled) {
				return fmt.Errorf("got %w, want the error of the context", err)
			}
			return nil
		}))
		release()
		c.wantSuccess(append(last, first)...)
		if c.Store.Name() == dialect.SQLite {
			c.wantSuccess(leaves)
		}
		c.wantRows(1, 2, 3)
		if n := c.transactions(); n != 1 {
			c.Errorf("%d transactions, want 1", n)
		}
	})
}

// TestDeadlineOfFirstChangeHarmsNoOther begins a shared transaction shortly before the deadline
// of its caller. The other change commits in the same transaction.
func TestDeadlineOfFirstChangeHarmsNoOther(t *testing.T) {
	eachCrowd(t, func(c *crowd, _ *storetest.Cutter) {
		ctx, cancel := context.WithTimeout(c.Context(), 300*time.Millisecond)
		defer cancel()
		held, released := make(chan struct{}), make(chan struct{})
		first := c.start(ctx, c.create(1, func(context.Context, *ent.Tx, store.Attempt) error {
			close(held)
			<-released
			return nil
		}))
		<-held
		others := c.queue(c.create(2))
		<-ctx.Done()
		close(released)
		c.wantSuccess(others...)
		if err := <-first; err != nil && !errors.Is(err, context.DeadlineExceeded) {
			c.Errorf("got %v, want the end of the deadline", err)
		}
		c.wantRows(1, 2)
		if n := c.transactions(); n != 1 {
			c.Errorf("%d transactions, want 1", n)
		}
	})
}

// TestCallerLeavesWhenItReceivesTransaction passes a transaction to a change whose caller
// has left: the changes before it are committed.
func TestCallerLeavesWhenItReceivesTransaction(t *testing.T) {
	eachCrowd(t, func(c *crowd, _ *storetest.Cutter) {
		ctx, leave := context.WithCancel(c.Context())
		release, first := c.hold(1)
		received := make(chan error, 1)
		go func() {
			turn, err := c.ChangeQueues.AcquireOrJoin(c.Context(), c.channel)
			leave()
			if err == nil {
				err = c.WriteShared(ctx, turn, c.create(2))
			}
			received <- err
		}()
		c.waitForWaiting(1)
		release()
		c.wantSuccess(first)
		if err := <-received; !errors.Is(err, context.Canceled) {
			c.Errorf("got %v, want the error of the context", err)
		}
		c.wantRows(1)
		if len(c.runs) != 1 {
			c.Errorf("%d bodies ran, want 1", len(c.runs))
		}
	})
}

// failing is a Finisher that fails, or panics, when the first of its transactions ends.
type failing struct {
	fails  *atomic.Bool
	panics bool
}

func (f failing) Finish(context.Context, *ent.Tx, []store.Finisher) error {
	if f.fails.Swap(false) {
		if f.panics {
			panic("boom")
		}
		return errors.New("the end failed")
	}
	return nil
}

// TestFailedEndIsRetried lets what is written at the end fail: every change is retried, also
// if the end panics in the goroutine of another change.
func TestFailedEndIsRetried(t *testing.T) {
	for _, panics := range []bool{false, true} {
		t.Run(fmt.Sprintf("panics is %t", panics), func(t *testing.T) {
			eachCrowd(t, func(c *crowd, _ *storetest.Cutter) {
				f := failing{&atomic.Bool{}, panics}
				f.fails.Store(true)
				release, first := c.hold(1)
				last := make(chan error, 1)
				go func() {
					defer func() {
						if recover() != nil {
							last <- nil
						}
					}()
					turn, err := c.ChangeQueues.AcquireOrJoin(c.Context(), c.channel)
					if err == nil {
						err = c.WriteShared(c.Context(), turn, func(ctx context.Context, tx *ent.Tx, a store.Attempt) error {
							a.Common.Leave("failing", f)
							return nil
						})
					}
					last <- err
				}()
				c.waitForWaiting(1)
				release()
				c.wantSuccess(first, last)
				c.wantRows(1)
				if len(c.runs) != 2 {
					c.Errorf("the first body ran %d times, want twice", len(c.runs))
				}
			})
		})
	}
}

// TestEmbeddedStoreSharesTransactionAmongChannels queues a change of another channel, and
// one of no channel.
func TestEmbeddedStoreSharesTransactionAmongChannels(t *testing.T) {
	url := storetest.SQLite(t)
	migrate(t, url)
	c := newCrowd(t, open(t, url))
	release, first := c.hold(1)
	c.channel = uid.New()
	other := c.start(t.Context(), c.create(2))
	none := make(chan error, 1)
	go func() { none <- c.WriteShared(t.Context(), nil, c.create(3)) }()
	c.waitFor(2, c.WaitingWriters)
	release()
	c.wantSuccess(first, other, none)
	c.wantRows(1, 2, 3)
	if n := c.transactions(); n != 1 {
		t.Errorf("%d transactions, want 1", n)
	}
}
