// Package lease lets one server at a time do some work: the holder of a lease,
// which is a row of the database.
package lease

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/fair"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// term is how long a holder that died keeps the others waiting; with the time
	// until they ask, less than 5 s.
	term       = 4 * time.Second
	renewAfter = term / 3
	// AskInterval is how often one who is not the holder asks for the lease.
	AskInterval = 250 * time.Millisecond
	// idleTime is how long a holder that hangs in a transaction keeps its locks.
	idleTime    = 3 * time.Second
	releaseTime = time.Second
)

// Lease is a lease as one worker sees it, for one goroutine. Its row has an epoch,
// which counts up with each holder. Every transaction of the holder begins by
// looking whether the epoch is still its own, and locks the row: so who lost the
// lease without having noticed writes nothing.
type Lease struct {
	store *store.Store
	log   *slog.Logger
	table string
	id    any

	epoch   int64 // 0: not the holder
	renewAt time.Time
	until   time.Time
	askAt   time.Time
}

// New is the lease that the row of a table with this id is: its columns epoch and
// expires_at.
func New(s *store.Store, log *slog.Logger, table string, id any) *Lease {
	return &Lease{store: s, log: log.With("lease", table), table: table, id: id}
}

// IsHeld tells whether this process has the lease, as far as it knows. One that
// was not renewed in time has ended.
func (l *Lease) IsHeld() bool { return l.epoch != 0 && time.Now().Before(l.until) }

// RenewAt is when the holder is to make a transaction even if it has nothing to
// write.
func (l *Lease) RenewAt() time.Time { return l.renewAt }

// Take takes the lease if it is free and it is time to ask, and tells whether this
// process has it.
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
	if err != nil || now < expiresAt {
		return false, err
	}
	taken := int64(0)
	err = l.store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		taken, err = l.update(ctx, tx, "epoch = ?, expires_at = ? WHERE id = ? AND epoch = ? AND expires_at = ?",
			epoch+1, now.Add(term), l.id, epoch, expiresAt)
		return err
	})
	// After a COMMIT of unknown outcome we may have it without knowing: then it
	// expires, and is free again.
	if err != nil || taken == 0 {
		return false, err
	}
	l.epoch = epoch + 1
	l.renewed(began)
	l.log.InfoContext(ctx, "took the lease", "epoch", l.epoch)
	return true, nil
}

// Write runs body in a transaction of the holder, which renews the lease. false:
// the lease is another's now, and body did not run. Like that of store.Write, body
// may run more than once.
func (l *Lease) Write(ctx context.Context, body func(ctx context.Context, tx *ent.Tx, now instant.Instant) error) (held bool, err error) {
	began := time.Now()
	ctx = fair.WithPriority(ctx, fair.High) // what a lease is for must not wait behind many callers
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
		l.log.InfoContext(ctx, "another server has the lease", "epoch", l.epoch)
		l.epoch = 0
	default:
		l.renewed(began)
	}
	return held, nil
}

// Release gives the lease up, so that another server goes on at once.
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
		l.log.WarnContext(ctx, "the lease was not given up; it expires by itself", "error", err)
	}
	l.epoch = 0
}

// renewed counts from before the database did: so the lease ends here before it
// ends for others.
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
