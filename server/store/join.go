package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/server/changequeue"
	"github.com/moderato-live/moderato/server/fair"
	"github.com/moderato-live/moderato/server/store/prepared"
)

// maxAmongChannels is how many transactions that changes of different channels share a
// database server runs for this Store at the same time. Fewer take more changes each, and
// more overlap while they wait for the server.
const maxAmongChannels = 4

// errChannelLocked is the error of a change that cannot join a transaction, because another
// transaction holds the lock of its channel.
var errChannelLocked = errors.New("the channel is locked")

// join returns the transaction that another change passed on, or a new one.
func (s *Store) join(ctx context.Context, with share) (*shared, error) {
	if sh, ok := with.turn.Passed().(*shared); ok {
		return sh, nil
	}
	if !s.dialect.hasOneWriter() && !with.isAmongChannels {
		return s.beginShared(ctx, fair.Slot{})
	}
	slot, err := s.amongChannels.AcquireOrJoin(ctx)
	if err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	if sh, ok := slot.Passed().(*shared); ok {
		sh.slot = slot
		return sh, nil
	}
	sh, err := s.beginShared(ctx, slot)
	if err != nil {
		slot.Release()
	}
	return sh, err
}

// beginShared begins a transaction that outlives the call that began it. Its COMMIT ends at
// the deadline of that call: those who share it find out what became of it.
func (s *Store) beginShared(ctx context.Context, slot fair.Slot) (*shared, error) {
	var writer fair.Slot
	if s.amongChannels != s.writers {
		var err error
		if writer, err = s.writers.Acquire(ctx); err != nil {
			return nil, fmt.Errorf("begin: %w", err)
		}
	}
	sh := &shared{store: s, common: newCommon(), slot: slot, writer: writer, done: make(chan struct{})}
	whole, cancel := context.WithCancel(context.WithoutCancel(prepared.CommitBy(ctx)))
	stop := context.AfterFunc(ctx, cancel)
	tx, err := s.write.Tx(context.WithValue(whole, executedKey{}, &sh.savepoint.count))
	if !stop() && err == nil {
		_ = tx.Rollback()
		err = ctx.Err()
	}
	if err != nil {
		cancel()
		writer.Release()
		return nil, fmt.Errorf("begin: %w", err)
	}
	sh.tx, sh.cancel = tx, cancel
	sh.common.shared = sh
	return sh, nil
}

// lock locks a channel: see Common.Lock. If changes of different channels share the
// transaction, it does not wait for another transaction, which may wait for this one. The
// first change can wait once no change of another channel can join.
func (sh *shared) lock(lock func(end string) (found bool, err error)) error {
	d := sh.store.dialect
	if sh.slot.IsHeld() && !d.hasOneWriter() {
		found, err := lock(d.forUpdateSkipLocked())
		switch {
		case err != nil || found:
			return err
		case sh.shares > 1:
			return errChannelLocked
		}
		sh.slot.Release()
	}
	_, err := lock(d.forUpdate())
	return err
}

// leave passes the transaction on, or commits it, for a change that cannot join it.
func (sh *shared) leave(ctx context.Context) {
	if !sh.mayGrow() || !sh.passAmongChannels() {
		go sh.commit(context.WithoutCancel(ctx))
	}
}

// passOn passes the transaction on to the next change that can join it, and reports whether
// there was one.
func (sh *shared) passOn(turn *changequeue.Turn) bool {
	if sh.ran.IsZero() {
		sh.ran = time.Now()
	}
	if !sh.mayGrow() {
		return false
	}
	if sh.slot.IsHeld() {
		// Other channels first: the next change of this channel has just waited for this one.
		if sh.passAmongChannels() {
			turn.Release()
			return true
		}
		if !sh.stayInChannel() {
			return false
		}
	}
	return turn.Pass(sh, sh.least)
}

// mayGrow reports whether a further change may join.
func (sh *shared) mayGrow() bool {
	isLate := !sh.ran.IsZero() && time.Since(sh.ran) >= sh.store.maxSharedTime
	return sh.shares < sh.store.maxShares && !isLate
}

func (sh *shared) passAmongChannels() bool {
	slot := sh.slot // a copy, because the next holder assigns sh.slot
	return slot.Pass(sh, sh.least)
}

// stayInChannel prepares the transaction for the next change of the same channel, which may
// wait for locks on a database server. It reports whether that change may join.
func (sh *shared) stayInChannel() bool {
	if sh.store.dialect.hasOneWriter() {
		return sh.store.writers.Waiting() == 0 // a transaction that does not join may wait
	}
	if len(sh.common.keys) > 1 {
		return false
	}
	sh.slot.Release()
	return true
}
