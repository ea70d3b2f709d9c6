package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// expireBatch is how many rows are removed in one transaction.
	expireBatch = 500
	// expireRest is the longest rest after a batch. It leaves the database to others: on
	// SQLite, a batch holds the only write lock.
	expireRest = 50 * time.Millisecond
)

// Expire returns a job that removes the rows of a table in which a column, which has an
// index, is more than keep ago.
func Expire(s *store.Store, name, table, column string, keep, interval time.Duration) Job {
	return Job{
		Name: name, Interval: interval, MaxRest: expireRest,
		Run: func(ctx context.Context) (more bool, err error) {
			removed, err := removeOld(ctx, s, table, column, keep)
			return removed == expireBatch, err
		},
		Due: Before(s, table, column, keep),
	}
}

// removeOld removes a batch of rows, and returns how many there were.
func removeOld(ctx context.Context, s *store.Store, table, column string, keep time.Duration) (removed int64, err error) {
	err = s.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		now, err := s.Clock.Now(ctx, tx)
		if err != nil {
			return err
		}
		result, err := tx.ExecContext(ctx, "DELETE FROM "+table+s.Some(table, column+" < ?", expireBatch), now.Add(-keep))
		if err != nil {
			return err
		}
		removed, err = result.RowsAffected()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("remove old rows of %s: %w", table, err)
	}
	return removed, nil
}
