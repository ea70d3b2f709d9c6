package store_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/changequeue"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
	"github.com/moderato-live/moderato/server/uid"
)

// channels makes changes of channels on a database server, where changes of different
// channels share one transaction at a time. The categories 1 to 3 stand for the channels. A
// change creates a category of its own.
type channels struct {
	*crowd
	ids map[int64]uid.ID // by category
}

func eachChannels(t *testing.T, test func(*channels)) {
	t.Helper()
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		migrate(t, url)
		c := &channels{newCrowd(t, open(t, url)), map[int64]uid.ID{1: uid.New(), 2: uid.New(), 3: uid.New()}}
		c.ShareAmongChannels(1)
		if err := c.Write(t.Context(), createCategories(1, 2, 3)); err != nil {
			t.Fatal(err)
		}
		test(c)
	})
}

// on makes a change of a channel in the background, which creates a category.
func (c *channels) on(channel, id int64, then ...changeBody) <-chan error {
	return c.with(c.WriteAmongChannels, channel, id, then...)
}

func (c *channels) with(write func(context.Context, *changequeue.Turn, changeBody) error, channel, id int64, then ...changeBody) <-chan error {
	ended := make(chan error, 1)
	go func() {
		turn, err := c.ChangeQueues.AcquireOrJoin(c.Context(), c.ids[channel])
		if err == nil {
			err = write(c.Context(), turn, func(ctx context.Context, tx *ent.Tx, a store.Attempt) error {
				if err := c.lock(ctx, tx, a, channel); err != nil {
					return err
				}
				a.Common.Leave(channel, nothing{})
				return c.create(id, then...)(ctx, tx, a)
			})
		}
		ended <- err
	}()
	return ended
}

// nothing is a Finisher that writes nothing.
type nothing struct{}

func (nothing) Finish(context.Context, *ent.Tx, []store.Finisher) error { return nil }

func (c *channels) lock(ctx context.Context, tx *ent.Tx, a store.Attempt, channel int64) error {
	return a.Common.Lock(c.Dialect, func(end string) (found bool, err error) {
		err = store.QueryEach(ctx, tx, "SELECT id FROM categories WHERE id = ?"+end, []any{channel}, func(scan func(...any) error) error {
			found = true
			return scan(new(int64))
		})
		return found, err
	})
}

// lockElsewhere locks a channel in a transaction of its own until unlock.
func (c *channels) lockElsewhere(channel int64) (unlock func()) {
	hold, locked, release := holding()
	ended := make(chan error, 1)
	go func() {
		ended <- c.Write(c.Context(), func(ctx context.Context, tx *ent.Tx, a store.Attempt) error {
			if err := c.lock(ctx, tx, a, channel); err != nil {
				return err
			}
			return hold(ctx, tx, a)
		})
	}()
	<-locked
	return func() {
		release()
		c.wantSuccess(ended)
	}
}

// holding returns a body that reports that it runs, and waits for release.
func holding() (body changeBody, runs <-chan struct{}, release func()) {
	held, released := make(chan struct{}), make(chan struct{})
	hold := sync.OnceFunc(func() { close(held) })
	body = func(context.Context, *ent.Tx, store.Attempt) error {
		hold()
		<-released
		return nil
	}
	return body, held, sync.OnceFunc(func() { close(released) })
}

// transactionOf returns the transaction that created a category.
func (c *channels) transactionOf(id int64) *ent.Tx {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.runs {
		if r.id == id {
			return r.tx
		}
	}
	return nil
}

func TestServerSharesTransactionAmongChannels(t *testing.T) {
	eachChannels(t, func(c *channels) {
		hold, runs, release := holding()
		first := c.on(1, 11, hold)
		<-runs
		second, third := c.on(2, 12), c.on(3, 13)
		c.waitFor(2, c.WaitingAmongChannels)
		release()
		c.wantSuccess(first, second, third)
		c.wantRows(1, 2, 3, 11, 12, 13)
		if n := c.transactions(); n != 1 {
			c.Errorf("%d transactions, want 1", n)
		}
	})
}

// TestLockedChannelDelaysNoOther makes a change of a channel whose lock another transaction
// holds. Changes of other channels do not wait for that lock.
func TestLockedChannelDelaysNoOther(t *testing.T) {
	eachChannels(t, func(c *channels) {
		unlock := c.lockElsewhere(2)
		begins := c.on(2, 12) // begins a transaction
		storetest.AwaitStatement(c.T, c.Store, "FROM categories WHERE id = ")
		c.wantSuccess(c.on(1, 11))
		hold, runs, release := holding()
		first := c.on(1, 21, hold)
		<-runs
		third := c.on(3, 23)
		c.waitFor(1, c.WaitingAmongChannels)
		release()
		c.wantSuccess(first, third)
		c.wantRows(1, 2, 3, 11, 21, 23)
		unlock()
		c.wantSuccess(begins)
		c.wantRows(1, 2, 3, 11, 12, 21, 23)
	})
}

// TestChangeLeavesTransactionIfChannelIsLocked lets a change of a locked channel receive a
// transaction. The others are committed without it.
func TestChangeLeavesTransactionIfChannelIsLocked(t *testing.T) {
	eachChannels(t, func(c *channels) {
		hold, runs, release := holding()
		first := c.on(1, 11, hold)
		<-runs
		unlock := c.lockElsewhere(2)
		second := c.on(2, 12)
		c.waitFor(1, c.WaitingAmongChannels)
		third := c.on(3, 13)
		c.waitFor(2, c.WaitingAmongChannels)
		release()
		c.wantSuccess(first, third)
		c.wantRows(1, 2, 3, 11, 13)
		unlock()
		c.wantSuccess(second)
		c.wantRows(1, 2, 3, 11, 12, 13)
		if c.transactionOf(11) != c.transactionOf(13) {
			c.Error("the change after the one that left is in another transaction")
		}
	})
}

// TestOtherChangesStayInTheirChannel has a change wait that may not share its transaction with
// changes of other channels. It joins the transaction of its channel only.
func TestOtherChangesStayInTheirChannel(t *testing.T) {
	eachChannels(t, func(c *channels) {
		hold, runs, release := holding()
		first := c.on(1, 11, hold)
		<-runs
		joins := c.with(c.WriteShared, 1, 21)
		c.waitForWaiting(1)
		release()
		c.wantSuccess(first, joins)
		if c.transactionOf(11) != c.transactionOf(21) {
			c.Error("the change did not join the transaction of its channel")
		}

		hold, runs, release = holding()
		first = c.on(1, 12, hold)
		<-runs
		holdSecond, secondRuns, releaseSecond := holding()
		second := c.on(2, 22, holdSecond)
		c.waitFor(1, c.WaitingAmongChannels)
		release()
		<-secondRuns
		stays := c.with(c.WriteShared, 2, 32)
		c.waitForWaiting(1)
		releaseSecond()
		c.wantSuccess(first, second, stays)
		if c.transactionOf(12) != c.transactionOf(22) || c.transactionOf(22) == c.transactionOf(32) {
			c.Error("the change joined a transaction of several channels")
		}
	})
}

// emptyHook is a Hook that does nothing.
type emptyHook struct{}

func (emptyHook) Begin(context.Context, *store.Store, *ent.Tx, store.Attempt) error { return nil }
func (emptyHook) End(context.Context, *ent.Tx) error                                { return nil }

// TestHookStaysInItsChannel makes a change with a Hook while the change of another channel
// holds the only transaction that changes of different channels may share. The change with
// the Hook does not wait for that transaction.
func TestHookStaysInItsChannel(t *testing.T) {
	eachChannels(t, func(c *channels) {
		hooked := func(ctx context.Context, turn *changequeue.Turn, b changeBody) error {
			return c.WriteAmongChannels(context.WithValue(ctx, store.HookKey{}, emptyHook{}), turn, b)
		}
		hold, runs, release := holding()
		first := c.on(1, 11, hold)
		<-runs
		second := c.with(hooked, 2, 12)
		select {
		case err := <-second:
			if err != nil {
				c.Error(err)
			}
		case <-time.After(10 * time.Second):
			c.Error("the change with a Hook waits for the transaction of another channel")
		}
		release()
		c.wantSuccess(first)
		c.wantRows(1, 2, 3, 11, 12)
	})
}
