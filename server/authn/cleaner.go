package authn

import (
	"context"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/jobs"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// cleanInterval is how often expired tokens are removed.
	cleanInterval = time.Minute
	// keptAfterExpiry is how long an expired token is stored. During that time its
	// holder gets TOKEN_EXPIRED, and afterwards TOKEN_INVALID.
	keptAfterExpiry = 24 * time.Hour
	cleanBatch      = 500
	// cleanRest bounds the rest after a batch.
	cleanRest = 50 * time.Millisecond
)

// Cleaner removes expired tokens.
type Cleaner struct {
	Store *store.Store
}

// Job returns the job that removes expired tokens.
func (c *Cleaner) Job() jobs.Job {
	return jobs.Job{
		Name: "remove expired tokens", Interval: cleanInterval, MaxRest: cleanRest, Run: c.Clean,
		Backlog: func(ctx context.Context) (int64, error) {
			now, err := c.Store.Clock.Now(ctx, c.Store.Read)
			if err != nil {
				return 0, err
			}
			return jobs.Count(ctx, c.Store, "SELECT 1 FROM tokens WHERE expires_at < ?", now.Add(-keptAfterExpiry))
		},
	}
}

// Clean removes a batch of tokens that expired more than keptAfterExpiry ago. It reports
// whether there may be more.
func (c *Cleaner) Clean(ctx context.Context) (more bool, err error) {
	var removed int64
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
	return removed == cleanBatch, err
}
