package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/fair"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// term is how long the other servers wait for a holder that died. Including
	// AskInterval, that is less than 5 s.
	term       = 4 * time.Second
	renewAfter = term / 3
	// AskInterval is how often a server that is not the holder asks for the lease.
	AskInterval = 250 * time.Millisecond
	// idleTime is how long a holder that hangs in a transaction keeps its locks.
	idleTime    = 3 * time.Second
	releaseTime = time.Second
)

// Lease is one worker's view of a lease, for one goroutine. The row has an epoch, which
// is incremented with each holder. Every transaction of the holder begins with a check
// that the epoch is still its own, and locks the row. A server that has lost the lease
// without noticing therefore writes nothing.
type Lease struct {
	store *store.Store
	log   *slog.Logger
	table string
	id    any

	epoch   int64 // 0 if this process is not the holder
	last    int64 // the latest epoch of this process
	renewAt time.Time
	until   time.Time
	askAt   time.Time
}

// NewLease returns the lease of the row of a table with this id. The row has the columns
// epoch and expires_at.
func NewLease(s *store.Store, log *slog.Logger, table string, id any) *Lease {
	return &Lease{store: s, log: log.With("lease", table), table: table, id: id}
}

// IsHeld reports whether this process holds the lease, as far as it knows. A lease that
// was not renewed in time has ended.
func (l *Lease) IsHeld() bool { return l.epoch != 0 && time.Now().Before(l.until) }

// IsTaken reports whether some process holds the lease, as the database has it. Unlike the
// other methods, it may be called at any time.
func (l *Lease) IsTaken(ctx context.Context) (bool, error) {
	now, _, expiresAt, err := l.read(ctx, l.store.Read, "")
	return err == nil && isValid(now, expiresAt), err
}

// RenewAt returns when the holder must call Write even if it has nothing to write.
func (l *Lease) RenewAt() time.Time { return l.renewAt }

// Take takes the lease if it is free and AskInterval has passed since the last attempt.
// It reports whether this process holds the lease.
func (l *Lease) Take(ctx context.Context) (bool, error) {
	if l.IsHeld() {
		return true, nil
	}
	if time.Now().Before(l.askAt) {
		return false, nil
	}
	began := time.Now()
	l.epoch, l.askAt = 0, began.Add(AskInterval)
	now, epoch, expiresAt, err := l.read(ctx, l.store.Read, "")
	if err != nil || isValid(now, expiresAt) {
		return false, err
	}
	taken := int64(0)
	err = l.store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		taken, err = l.update(ctx, tx, "epoch = ?, expires_at = ? WHERE id = ? AND epoch = ? AND expires_at = ?",
			epoch+1, now.Add(term), l.id, epoch, expiresAt)
		return err
	})
	// After a COMMIT of unknown outcome, this process may hold the lease without knowing
	// it. The lease then expires, and is free again.
	if err != nil || taken == 0 {
		return false, err
	}
	level := slog.LevelInfo
	if epoch > 0 && epoch == l.last {
		level = slog.LevelDebug // nobody else held it since: a job that rarely works lets it end
	}
	l.epoch, l.last = epoch+1, epoch+1
	l.renewed(began)
	l.log.Log(ctx, level, "lease acquired", "epoch", l.epoch)
	return true, nil
}

// isValid reports whether a lease is valid. Holders set its end to one term from now. If it
// ends much later, the database's clock has been set back since. The holder may be dead, and
// then nobody would renew or take the lease until the former time. So the lease is free: a
// holder that lives notices it by the epoch.
func isValid(now, expiresAt instant.Instant) bool {
	return now < expiresAt && expiresAt <= now.Add(2*term)
}

// Write runs body in a transaction of the holder, which renews the lease. If another
// server holds the lease now, Write returns false without running body. Like that of
// store.Write, body may run more than once.
func (l *Lease) Write(ctx context.Context, body func(ctx context.Context, tx *ent.Tx, now instant.Instant) error) (held bool, err error) {
	began := time.Now()
	ctx = fair.WithPriority(ctx, fair.High) // the holder must not queue behind many callers
	err = l.store.WriteBounded(ctx, idleTime, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		now, epoch, _, err := l.read(ctx, tx, l.store.ForUpdate())
		if held = err == nil && epoch == l.epoch; !held {
			return err
		}
		if _, err := l.update(ctx, tx, "expires_at = ? WHERE id = ?", now.Add(term), l.id); err != nil {
			return err
		}
		return body(ctx, tx, now)
	})
	switch {
	case err != nil:
		return false, err
	case !held:
		l.lost(ctx)
	default:
		l.renewed(began)
	}
	return held, nil
}

// RenewInTime renews the lease, in one statement, if it is time to. If another server holds the
// lease now, IsHeld is false afterwards.
func (l *Lease) RenewInTime(ctx context.Context) error {
	began := time.Now()
	if began.Before(l.renewAt) {
		return nil
	}
	now, args := l.store.Clock.Expression()
	set, args := fmt.Sprintf("expires_at = %s + %d WHERE id = ? AND epoch = ?", now, term.Milliseconds()), append(args, l.id, l.epoch)
	again := int64(0)
	renewed, err := l.store.WriteAtOnce(fair.WithPriority(ctx, fair.High), "UPDATE "+l.table+" SET "+set, args, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) (err error) {
		again, err = l.update(ctx, tx, set, args...)
		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("lease of %s: %w", l.table, err)
	case renewed+again == 0:
		l.lost(ctx)
	default:
		l.renewed(began)
	}
	return nil
}

// whenFree returns the query that selects a row while no process holds the lease.
func (l *Lease) whenFree() (query string, args []any) {
	now, args := l.store.Clock.Expression()
	again, more := l.store.Clock.Expression()
	args = append(append([]any{l.id}, args...), more...)
	return fmt.Sprintf("SELECT 1 FROM %s WHERE id = ? AND (expires_at <= %s OR expires_at > %s + %d)", l.table, now, again, (2 * term).Milliseconds()), args
}

// Release releases the lease, so that another server can take it immediately.
func (l *Lease) Release(ctx context.Context) {
	if l.epoch == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, releaseTime)
	defer cancel()
	err := l.store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		_, err := l.update(ctx, tx, "expires_at = 0 WHERE id = ? AND epoch = ?", l.id, l.epoch)
		return err
	})
	if err != nil {
		l.log.WarnContext(ctx, "releasing the lease failed; it will expire", "error", err)
	}
	l.epoch = 0
}

func (l *Lease) lost(ctx context.Context) {
	l.log.InfoContext(ctx, "lease lost to another server", "epoch", l.epoch)
	l.epoch = 0
}

// renewed sets the local times. They count from before the database set the expiration,
// so that the lease ends here before it ends for other servers.
func (l *Lease) renewed(began time.Time) {
	l.renewAt, l.until = began.Add(renewAfter), began.Add(term)
}

func (l *Lease) read(ctx context.Context, q store.Queryer, lock string) (now instant.Instant, epoch int64, expiresAt instant.Instant, err error) {
	var clock int64
	err = store.QueryRow(ctx, q, "SELECT "+l.store.Clock.SQL()+", epoch, expires_at FROM "+l.table+" WHERE id = ?"+lock,
		[]any{l.id}, &clock, &epoch, &expiresAt)
	if err != nil {
		err = fmt.Errorf("lease of %s: %w", l.table, err)
	}
	return l.store.Clock.At(clock), epoch, expiresAt, err
}

func (l *Lease) update(ctx context.Context, tx *ent.Tx, set string, args ...any) (found int64, err error) {
	result, err := tx.ExecContext(ctx, "UPDATE "+l.table+" SET "+set, args...)
	if err != nil {
		return 0, fmt.Errorf("lease of %s: %w", l.table, err)
	}
	return result.RowsAffected()
}
