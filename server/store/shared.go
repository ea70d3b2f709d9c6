package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/changequeue"
	"github.com/moderato-live/moderato/server/fair"
	"github.com/moderato-live/moderato/server/store/coalesce"
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
	return s.writeShared(ctx, turn, false, b)
}

// writeShared is WriteShared. It is told whether the outcome of an attempt before it is
// unknown.
func (s *Store) writeShared(ctx context.Context, turn *changequeue.Turn, isUnknown bool, b body) error {
	defer turn.Release()
	return s.retry(ctx, Attempt{IsFirst: true, Unknown: isUnknown}, func(attempt Attempt) (unknown bool, err error) {
		if attempt.IsFirst {
			return s.attemptShared(retried(ctx, attempt), turn, attempt, b)
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

func (s *Store) attemptShared(ctx context.Context, turn *changequeue.Turn, attempt Attempt, b body) (unknown bool, err error) {
	ctx, span := s.tracing.Transaction(ctx)
	defer func() { s.endTransaction(span, err) }()
	sh, err := s.join(ctx, turn)
	if err != nil {
		return false, err
	}
	isOver, err := sh.run(ctx, attempt, b)
	if isOver {
		return false, err
	}
	if !sh.passOn(turn) {
		turn.Release() // before the commit, so that the next change requests the lock meanwhile
		sh.commit(ctx)
	}
	return sh.outcome(ctx, err)
}

// shared is a transaction that changes share. One change at a time holds it: the one whose
// body runs, which then passes it on or commits it.
type shared struct {
	store  *Store
	tx     *ent.Tx
	common *Common
	cancel context.CancelFunc
	slot   fair.Slot // of the store's writers
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

// join returns the transaction that another change passed on, or a new one.
func (s *Store) join(ctx context.Context, turn *changequeue.Turn) (*shared, error) {
	if sh, ok := turn.Passed().(*shared); ok {
		return sh, nil
	}
	acquire := s.writers.Acquire
	if s.dialect.hasOneWriter() {
		acquire = s.writers.AcquireOrJoin
	}
	slot, err := acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	if sh, ok := slot.Passed().(*shared); ok {
		sh.slot = slot
		return sh, nil
	}
	sh, err := s.beginShared(ctx)
	if err != nil {
		slot.Release()
		return nil, err
	}
	sh.slot = slot
	return sh, nil
}

// beginShared begins a transaction that outlives the call that began it. Its COMMIT ends at
// the deadline of that call: those who share it find out what became of it.
func (s *Store) beginShared(ctx context.Context) (*shared, error) {
	whole, cancel := context.WithCancel(context.WithoutCancel(coalesce.CommitBy(ctx)))
	stop := context.AfterFunc(ctx, cancel)
	tx, err := s.write.Tx(whole)
	if !stop() && err == nil {
		_ = tx.Rollback()
		err = ctx.Err()
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("begin: %w", err)
	}
	return &shared{store: s, tx: tx, common: newCommon(), cancel: cancel, done: make(chan struct{})}, nil
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
	set, undo, release := sh.store.dialect.savepoint()
	if err := sh.exec(ctx, set); err != nil {
		return true, fmt.Errorf("%w: %w", errAborted, err)
	}
	err = hooked(ctx, sh.store, sh.tx, attempt, b)
	end := release
	if err != nil {
		end = undo
	}
	// This fails if the database has rolled back the transaction.
	if failed := sh.exec(ctx, end); failed != nil {
		return true, sh.errorOfBroken(err, failed)
	}
	return false, err
}

// errorOfBroken returns the error of a body in a transaction that cannot continue because of
// failed. It is the body's own error if that broke the transaction. Any other is dropped, so
// that the body is retried: it may refuse a change because of others that did not happen.
func (sh *shared) errorOfBroken(own, failed error) error {
	if own != nil && (sh.store.dialect.isFull(own) || sh.store.dialect.retryCause(own) != "") {
		return own
	}
	return fmt.Errorf("%w: %w", errAborted, failed)
}

func (sh *shared) exec(ctx context.Context, statement string) error {
	if statement == "" {
		return nil
	}
	_, err := sh.tx.ExecContext(ctx, statement)
	return err
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

// passOn passes the transaction on to the next change that can join it, and reports whether
// there was one.
func (sh *shared) passOn(turn *changequeue.Turn) bool {
	if sh.ran.IsZero() {
		sh.ran = time.Now()
	}
	if sh.shares >= sh.store.maxShares || time.Since(sh.ran) >= sh.store.maxSharedTime {
		return false
	}
	if sh.store.dialect.hasOneWriter() {
		// Other channels first: the next change of this channel has just waited for this one.
		slot := sh.slot // a copy, because the next holder assigns sh.slot
		if slot.Pass(sh, sh.least) {
			turn.Release()
			return true
		}
		if sh.store.writers.Waiting() > 0 {
			return false // for a transaction that does not join
		}
	}
	return turn.Pass(sh, sh.least)
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
	err := sh.store.commit(ctx, sh.tx)
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
