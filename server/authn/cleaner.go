package authn

import (
	"context"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// CleanInterval is how often expired tokens are removed.
	CleanInterval = time.Minute
	// keptAfterExpiry is how long an expired token is stored. During that time its
	// holder gets TOKEN_EXPIRED, and afterwards TOKEN_INVALID.
	keptAfterExpiry = 24 * time.Hour
	cleanBatch      = 500
	// cleanPause is the pause between two batches, so that other work can use the
	// database.
	cleanPause = 50 * time.Millisecond
)

// Cleaner removes expired tokens.
type Cleaner struct {
	Store *store.Store
}

// Clean removes every token that expired more than keptAfterExpiry ago, in small
// transactions.
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
