package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/go-sql-driver/mysql"
	"modernc.org/sqlite"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/fair"
	"github.com/moderato-live/moderato/server/store/cluster"
	"github.com/moderato-live/moderato/server/store/prepared"
)

// ErrUnavailable marks the error of a database that could not be reached, or of a
// transaction whose conflicts outlasted every retry.
var ErrUnavailable = errors.New("the store is unavailable")

// ErrFull marks the error of a database that has no room left, such as a full disk. An
// error that wraps ErrFull also wraps ErrUnavailable.
var ErrFull = errors.New("the store is full")

// ErrNoPrimary is the error of a database cluster without a member that may be written to.
var ErrNoPrimary = cluster.ErrNoPrimary

// ErrCommitted is the error that the body of Write returns when it finds that an earlier
// attempt, whose commit had an unknown outcome, did commit.
var ErrCommitted = errors.New("an earlier attempt committed")

// Hook adds to every transaction of a request: see Write.
type Hook interface {
	// Begin runs at the start of each attempt. If it returns an error, the body does not
	// run. It handles attempt like the body of Write.
	Begin(ctx context.Context, s *Store, tx *ent.Tx, attempt Attempt) error
	// End runs after the body, directly before the commit.
	End(ctx context.Context, tx *ent.Tx) error
}

// HookKey is the key under which the context of a request holds its Hook, if it has one.
type HookKey struct{}

// HookOf returns the Hook of a request; nil if it has none.
func HookOf(ctx context.Context) Hook {
	hook, _ := ctx.Value(HookKey{}).(Hook)
	return hook
}

const (
	firstRetryDelay = 5 * time.Millisecond
	maxRetryDelay   = 500 * time.Millisecond
	maxRetryTime    = 5 * time.Second
	// maxUnknownTime is maxRetryTime for a transaction whose COMMIT had an unknown outcome in
	// a cluster: the next primary knows the outcome.
	maxUnknownTime = 15 * time.Second
)

// Attempt informs the body of Write about earlier attempts.
type Attempt struct {
	// Unknown is true when the COMMIT of an earlier attempt was sent and its outcome is
	// unknown. The body must then take the lock that the earlier attempt held, find out
	// whether that attempt committed, and return ErrCommitted if it did.
	Unknown bool
	// IsFirst is true unless the body is repeated.
	IsFirst bool
}

// body is the body of a transaction: see Write. It returns the error of every statement,
// except a duplicate: the database may have rolled back the transaction.
type body = func(ctx context.Context, tx *ent.Tx, attempt Attempt) error

// Write runs body in one transaction and commits it. If the transaction conflicts with
// another one, or its connection breaks, Write retries the whole transaction. Therefore
// body must not have effects outside the transaction, and only the results of its last
// run count. If body returns any other error, Write rolls back and returns that error. If
// ctx has a Hook, it runs in the transaction before and after body.
func (s *Store) Write(ctx context.Context, b body) error {
	return s.retry(ctx, func(attempt Attempt) (unknown bool, err error) {
		return s.attempt(ctx, hooked(s, b), attempt)
	})
}

// WriteOnce makes the first attempt of a transaction for several requests. It runs no Hook.
// The transaction does not end when ctx does: the others must not fail because the caller of
// one of them leaves. If the attempt fails, WriteAgain continues each request. unknown is true
// if the outcome of the commit is unknown.
func (s *Store) WriteOnce(ctx context.Context, b body) (unknown bool, err error) {
	ctx, cancel := s.outlasting(ctx)
	defer cancel()
	return s.attempt(ctx, b, Attempt{IsFirst: true})
}

// WriteAgain is Write for a request whose first attempt, made by WriteOnce, has failed. It runs
// no Hook.
func (s *Store) WriteAgain(ctx context.Context, failed error, unknown bool, b body) error {
	isFirst := true
	return s.retry(ctx, func(attempt Attempt) (bool, error) {
		if isFirst {
			isFirst = false
			return unknown, failed
		}
		return s.attempt(ctx, b, attempt)
	})
}

// errShared marks the error of a transaction for several requests, of which each is to be
// tried again alone.
var errShared = errors.New("a transaction for several requests failed")

// Shared returns the error of an attempt that was made for several requests. WriteAgain then
// tries the request again whatever the reason was: it may lie in another request.
func Shared(err error) error { return fmt.Errorf("%w: %w", errShared, err) }

// minOutlasting is how long a transaction for several requests may take at least, in case the
// deadline of the first of them is near.
const minOutlasting = time.Second

// outlasting returns the context of a transaction that the end of ctx does not cancel. It ends
// at the deadline of ctx or after minOutlasting. On an embedded database it does not end: its
// statements depend on no other machine, and the driver runs a goroutine for each statement
// that can be cancelled.
func (s *Store) outlasting(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	ctx = context.WithoutCancel(ctx)
	if !ok || s.dialect.hasOneWriter() {
		return ctx, func() {}
	}
	if least := time.Now().Add(minOutlasting); deadline.Before(least) {
		deadline = least
	}
	return context.WithDeadline(ctx, deadline)
}

// retry runs a transaction until it succeeds or fails for a reason that a retry does not
// change.
func (s *Store) retry(ctx context.Context, run func(Attempt) (unknown bool, err error)) error {
	attempt := Attempt{IsFirst: true}
	delays := backoff.NewExponentialBackOff()
	delays.InitialInterval, delays.MaxInterval = firstRetryDelay, maxRetryDelay
	end := time.Now().Add(maxRetryTime)
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		unknown, err := run(attempt)
		attempt.IsFirst = false
		attempt.Unknown = attempt.Unknown || unknown
		if err == nil || errors.Is(err, ErrCommitted) {
			return struct{}{}, nil
		}
		if s.dialect.isFull(err) {
			return struct{}{}, backoff.Permanent(s.Classify(err))
		}
		cause := s.retryCause(err)
		if unknown && cause == "" {
			cause = "commit"
		}
		if cause != "" && ctx.Err() != nil { // no time is left to find out, or to retry
			err = fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		if cause == "" || ctx.Err() != nil {
			return struct{}{}, backoff.Permanent(err)
		}
		err = fmt.Errorf("%w: %w", ErrUnavailable, err)
		if time.Now().After(end) && !s.awaitsPrimary(attempt) {
			return struct{}{}, backoff.Permanent(err)
		}
		s.retries.WithLabelValues(cause).Inc()
		return struct{}{}, err
	}, backoff.WithBackOff(delays), backoff.WithMaxElapsedTime(maxUnknownTime))
	return err
}

// awaitsPrimary reports whether only the next primary of a cluster can tell what became of
// an attempt.
func (s *Store) awaitsPrimary(a Attempt) bool { return s.cluster != nil && a.Unknown }

// retryCause returns the reason to retry a transaction that failed; empty if it must not be
// retried.
func (s *Store) retryCause(err error) string {
	if errors.Is(err, errShared) {
		return "shared"
	}
	return s.dialect.retryCause(err)
}

// WriteAtOnce executes a statement that is a transaction of its own, and returns how many
// rows it wrote. On a database server that saves three round trips. If it wrote nothing,
// WriteAtOnce runs body in a transaction, which also finds out why. The statement is not
// executed if it is empty, and for a request with a Hook. If its outcome is unknown, body runs
// as after an attempt with an unknown outcome.
func (s *Store) WriteAtOnce(ctx context.Context, query string, args []any, b body) (rows int64, err error) {
	if query == "" || HookOf(ctx) != nil {
		return 0, s.Write(ctx, b)
	}
	rows, isUnknown, err := s.executeAlone(ctx, query, args)
	if err != nil || rows > 0 {
		return rows, err
	}
	return 0, s.retry(ctx, func(attempt Attempt) (bool, error) {
		attempt.Unknown = attempt.Unknown || isUnknown
		return s.attempt(ctx, b, attempt)
	})
}

func (s *Store) executeAlone(ctx context.Context, query string, args []any) (rows int64, isUnknown bool, err error) {
	slot, err := s.writers.Acquire(ctx)
	if err != nil {
		return 0, false, fmt.Errorf("begin: %w", err)
	}
	defer slot.Release()
	result, err := s.write.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, !s.IsDuplicate(err), nil
	}
	rows, err = result.RowsAffected()
	return rows, false, err
}

// WriteBounded is Write for a transaction whose locks must not outlive a client that
// hangs: the database server aborts the transaction when the connection was idle for
// that long.
func (s *Store) WriteBounded(ctx context.Context, idle time.Duration, b body) error {
	begin, end := s.dialect.boundIdle(int(idle.Seconds()))
	if begin == "" {
		return s.Write(ctx, b)
	}
	// The bound ends after the transaction: a client may also hang before COMMIT.
	return s.Write(prepared.After(ctx, end), func(ctx context.Context, tx *ent.Tx, attempt Attempt) error {
		if _, err := tx.ExecContext(ctx, begin); err != nil {
			return fmt.Errorf("bound the transaction: %w", err)
		}
		return b(ctx, tx, attempt)
	})
}

// retried returns the context in which an attempt waits for a slot. An attempt that
// follows one that may have committed is never rejected for overload: the caller would
// learn that nothing was done.
func retried(ctx context.Context, attempt Attempt) context.Context {
	if !attempt.Unknown {
		return ctx
	}
	r := fair.FromContext(ctx)
	r.MaxWait = 0
	return fair.NewContext(ctx, r)
}

// attempt runs the transaction once. It returns with its error whether the outcome of
// the commit is unknown.
func (s *Store) attempt(ctx context.Context, b body, attempt Attempt) (unknown bool, err error) {
	slot, err := s.writers.Acquire(retried(ctx, attempt))
	if err != nil {
		return false, fmt.Errorf("begin: %w", err)
	}
	defer slot.Release()
	tx, err := s.write.Tx(ctx)
	if err != nil {
		return false, fmt.Errorf("begin: %w", err)
	}
	finished := false
	defer func() {
		// This also runs when body panics. After an error inside a transaction, nothing
		// of it may be committed: MySQL has already rolled back the victim of a
		// deadlock, and would commit the statements that came after.
		if !finished {
			_ = tx.Rollback()
		}
	}()
	if err := b(ctx, tx, attempt); err != nil {
		return false, err
	}
	finished = true
	if err := tx.Commit(); err != nil {
		_ = tx.Rollback()
		return true, fmt.Errorf("commit: %w", err)
	}
	return false, nil
}

// hooked returns a body that runs the Hook of its context before and after b.
func hooked(s *Store, b body) body {
	return func(ctx context.Context, tx *ent.Tx, attempt Attempt) error {
		hook := HookOf(ctx)
		if hook == nil {
			return b(ctx, tx, attempt)
		}
		if err := hook.Begin(ctx, s, tx, attempt); err != nil {
			return err
		}
		if err := b(ctx, tx, attempt); err != nil {
			return err
		}
		return hook.End(ctx, tx)
	}
}

// Classify marks the error of a statement that failed because the database could not be
// reached or has no room, with ErrUnavailable and ErrFull. It returns other errors as
// they are.
func (s *Store) Classify(err error) error {
	switch {
	case err == nil, errors.Is(err, ErrUnavailable):
		return err
	case s.dialect.isFull(err):
		s.full.Inc()
		return fmt.Errorf("%w: %w: %w", ErrUnavailable, ErrFull, err)
	case s.dialect.retryCause(err) != "":
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}

// IsFailure reports whether an error is a failure of the database, such as a connection that
// was lost, whether Classify has marked it or not. It does not recognize the network's own
// errors, which may come from elsewhere.
func IsFailure(err error) bool {
	var server *mysql.MySQLError
	var embedded *sqlite.Error
	switch {
	case errors.As(err, &server):
		return mysqlDialect{}.retryCause(err) != "" || mysqlDialect{}.isFull(err)
	case errors.As(err, &embedded):
		return sqliteDialect{}.retryCause(err) != "" || sqliteDialect{}.isFull(err)
	}
	return errors.Is(err, ErrUnavailable) || errors.Is(err, ErrNoPrimary) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn)
}
