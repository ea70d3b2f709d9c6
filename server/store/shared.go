package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/changequeue"
	"github.com/moderato-live/moderato/server/fair"
)

const (
	// defaultMaxShares is how many changes share one transaction at most.
	defaultMaxShares = 64
	// defaultMaxSharedTime is how long the first change of a transaction waits until the
	// transaction accepts no further change.
	defaultMaxSharedTime = 25 * time.Millisecond
	// cancelDelay is how long a change that joined a transaction continues after its caller
	// has left. A statement that is cancelled breaks the connection, and with it the other
	// changes of the transaction. A change takes some milliseconds, so only one that waits
	// for another transaction, or for a database that hangs, is cancelled.
	cancelDelay = 250 * time.Millisecond
)

// errAborted is the error of a change whose transaction was rolled back for another reason
// than the change itself.
var errAborted = errors.New("the shared transaction was rolled back")

// WriteShared is Write for a short change that may share its transaction with others. The
// turn is the caller's turn to change a channel, or nil; WriteShared ends it. When the body
// has run, the open transaction is passed on to the next change of the channel, and on an
// embedded database to the next change of any. If none waits, it is committed; so it is if
// the change of a moderator has run, and none of another moderator is next. A body never
// waits for another one to join, and WriteShared returns after the commit.
//
// Each body runs alone, and sees what those before it have changed. If a body returns an
// error, what it has changed is undone, and the others stand. If the transaction cannot be
// committed, each body is retried in a transaction of its own, with a new turn.
func (s *Store) WriteShared(ctx context.Context, turn *changequeue.Turn, b body) error {
	return s.writeShared(ctx, share{turn: turn}, false, b)
}

// WriteAmongChannels is WriteShared for a change that may share its transaction with changes
// of other channels on a database server, too. The body must lock the channel with
// Common.Lock, and must not wait for other locks: those who share the transaction would wait
// with it. A Hook may wait for locks, so a change of a request with a Hook shares its
// transaction only with changes of its channel.
func (s *Store) WriteAmongChannels(ctx context.Context, turn *changequeue.Turn, b body) error {
	return s.writeShared(ctx, share{turn: turn, isAmongChannels: s.maxShares > 1 && !HasHook(ctx)}, false, b)
}

// share says with whom a change may share its transaction.
type share struct {
	turn            *changequeue.Turn // to change a channel; nil for none
	isAmongChannels bool              // with changes of other channels, on a database server
}

// writeShared is WriteShared or WriteAmongChannels. It is told whether the outcome of an
// attempt before it is unknown.
func (s *Store) writeShared(ctx context.Context, with share, isUnknown bool, b body) error {
	turn := with.turn
	defer turn.Release()
	return s.retry(ctx, Attempt{IsFirst: true, Unknown: isUnknown}, func(attempt Attempt) (unknown bool, err error) {
		if attempt.IsFirst {
			return s.attemptShared(retried(ctx, attempt), with, attempt, b)
		}
		if err := turn.Renew(retried(ctx, attempt)); err != nil {
			return false, fmt.Errorf("begin: %w", err)
		}
		return s.attempt(ctx, releasing(turn, b), attempt)
	})
}

// WriteAlone is Write for a long change that waited for its turn to change a channel. It
// releases the turn after the body, so that the next change requests the channel's lock
// during the commit, and ends it after the commit. If the commit fails, the retry runs
// without a turn. That is correct, because the lock alone serializes the changes.
func (s *Store) WriteAlone(ctx context.Context, turn *changequeue.Turn, b body) error {
	defer turn.End()
	return s.Write(ctx, releasing(turn, b))
}

// releasing returns a body that releases a turn at its end.
func releasing(turn *changequeue.Turn, b body) body {
	return func(ctx context.Context, tx *ent.Tx, attempt Attempt) error {
		if err := b(ctx, tx, attempt); err != nil {
			return err
		}
		turn.Release()
		return nil
	}
}

func (s *Store) attemptShared(ctx context.Context, with share, attempt Attempt, b body) (unknown bool, err error) {
	sh, err := s.join(ctx, with)
	if err != nil {
		return false, err
	}
	isOver, err := sh.run(ctx, attempt, b)
	if !isOver && errors.Is(err, errChannelLocked) {
		sh.leave(ctx)
		if sh, err = s.beginShared(ctx, fair.Slot{}); err != nil {
			return false, err
		}
		isOver, err = sh.run(ctx, attempt, b)
	}
	if isOver {
		return false, err
	}
	if !sh.passOn(with.turn) {
		with.turn.Release() // before the commit, so that the next change requests the lock meanwhile
		sh.commit(ctx)
	}
	return sh.outcome(ctx, err)
}

// shared is a transaction that changes share. One change at a time holds it: the one whose
// body runs, which then passes it on or commits it.
type shared struct {
	store     *Store
	tx        *ent.Tx
	savepoint savepoint
	common    *Common
	cancel    context.CancelFunc
	// slot is of the store's gate for transactions that changes of different channels share.
	// It is not held if only changes of one channel share this one.
	slot   fair.Slot
	writer fair.Slot // of the store's writers, unless slot is one of these
	ran    time.Time // when the first body had run
	shares int
	// least is the least priority of further changes: once a moderator's change has run, the
	// transaction is not held up by others.
	least fair.Priority

	// done is closed when the transaction is over. Until then only the holder uses the
	// fields below.
	done    chan struct{}
	unknown bool // the outcome of the commit is unknown
	err     error
}

// run runs the body of a change. If the body fails, run undoes what the body has changed.
// If that is impossible, run rolls the transaction back, and reports that it is over. Then
// err is not nil.
func (sh *shared) run(ctx context.Context, attempt Attempt, b body) (isOver bool, err error) {
	sh.shares++
	sh.least = max(sh.least, fair.FromContext(ctx).Priority)
	attempt.Common = sh.common
	if err := ctx.Err(); err != nil {
		return false, err
	}
	isOver = true
	defer func() { // also when b panics
		if isOver {
			sh.abort(errAborted)
		}
	}()
	ctx, cancel := sh.contextOf(ctx)
	defer cancel()
	if sh.shares == 1 {
		err = hooked(ctx, sh.store, sh.tx, attempt, b)
		isOver = err != nil
		return isOver, err
	}
	sh.store.joined.Inc()
	if err := sh.save(ctx); err != nil {
		return true, fmt.Errorf("%w: %w", errAborted, err)
	}
	if err = hooked(ctx, sh.store, sh.tx, attempt, b); err == nil {
		return false, nil
	}
	// This fails if the database has rolled back the transaction.
	if failed := sh.undo(ctx); failed != nil {
		return true, sh.errorOfBroken(err, failed)
	}
	return false, err
}

// errorOfBroken returns the error of a body in a transaction that cannot continue because of
// failed. It is the body's own error if that broke the transaction. Any other is dropped, so
// that the body is retried: it may refuse a change because of others that did not happen.
func (sh *shared) errorOfBroken(own, failed error) error {
	if sh.store.dialect.isFull(own) || sh.store.dialect.retryCause(own) != "" {
		return own
	}
	return fmt.Errorf("%w: %w", errAborted, failed)
}

// contextOf returns the context of a change's statements.
func (sh *shared) contextOf(ctx context.Context) (context.Context, context.CancelFunc) {
	if sh.store.dialect.hasOneWriter() {
		return context.WithoutCancel(ctx), func() {} // its statements depend on no other machine
	}
	if sh.shares == 1 {
		return ctx, func() {}
	}
	delayed, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(cancelDelay):
			cancel()
		case <-delayed.Done():
		}
	})
	return delayed, func() { stop(); cancel() }
}

// commit commits the transaction, and tells the changes that share it.
func (sh *shared) commit(ctx context.Context) {
	ctx, cancel := sh.contextOf(ctx)
	defer cancel()
	isOver := false
	defer func() { // when a Finisher panics
		if !isOver {
			sh.abort(errAborted)
		}
	}()
	if err := sh.common.finish(ctx, sh.tx); err != nil {
		isOver = true
		sh.abort(fmt.Errorf("%w: %w", errAborted, err))
		return
	}
	isOver = true
	err := sh.tx.Commit()
	if err != nil {
		_ = sh.tx.Rollback()
		sh.unknown, err = true, fmt.Errorf("commit: %w", err)
	}
	sh.common.raise(sh.store)
	sh.end(err)
}

// abort rolls the transaction back. The changes that share it are retried.
func (sh *shared) abort(err error) {
	_ = sh.tx.Rollback()
	sh.end(err)
}

func (sh *shared) end(err error) {
	sh.err = err
	sh.cancel()
	sh.slot.Release()
	sh.writer.Release()
	close(sh.done)
}

// outcome waits until the transaction is over, and returns the result of a change whose body
// returned err. A body that failed is retried like the others: it may have seen changes
// that did not happen. On an embedded database, outcome waits even if the caller has left.
// The wait is short, and the chat sends a post to its listeners only if it was stored.
func (sh *shared) outcome(ctx context.Context, err error) (unknown bool, _ error) {
	left := ctx.Done()
	if sh.store.dialect.hasOneWriter() || sh.isDone() {
		left = nil
	}
	select {
	case <-sh.done:
	case <-left:
		return true, ctx.Err()
	}
	switch {
	case sh.err == nil:
		return false, err
	case err == nil:
		return sh.unknown, sh.err
	}
	return false, fmt.Errorf("%w: %w", errAborted, sh.err)
}

func (sh *shared) isDone() bool {
	select {
	case <-sh.done:
		return true
	default:
		return false
	}
}
