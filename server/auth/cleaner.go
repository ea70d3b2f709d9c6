package auth

import (
	"context"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// CleanInterval is how often to remove expired tokens.
	CleanInterval = time.Minute
	// keptAfterExpiry is for how long the store remembers an expired token: so long
	// its holder is told that it has expired, and then that it is unknown.
	keptAfterExpiry = 24 * time.Hour
	cleanBatch      = 500
	// cleanPause leaves the store to others between two batches.
	cleanPause = 50 * time.Millisecond
)

// Cleaner removes tokens that have expired.
type Cleaner struct {
	Store *store.Store
}

// Clean removes every token that expired a while ago, in small transactions.
func (c *Cleaner) Clean(ctx context.Context) error {
	for {
		removed, err := c.batch(ctx)
		if err != nil || removed < cleanBatch {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(cleanPause):
		}
	}
}

func (c *Cleaner) batch(ctx context.Context) (removed int64, err error) {
	err = c.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		now, err := c.Store.Clock.Now(ctx, tx)
		if err != nil {
			return err
		}
		result, err := tx.ExecContext(ctx, "DELETE FROM tokens"+c.Store.Some("tokens", "expires_at < ?", cleanBatch), now.Add(-keptAfterExpiry))
		if err != nil {
			return err
		}
		removed, err = result.RowsAffected()
		return err
	})
	return removed, err
}
