package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/webhook"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

const (
	// purgeInterval is how often deleted webhooks and old deliveries are removed.
	purgeInterval = 2 * time.Second
	// keptFor is how long a delivery that has ended is listed.
	keptFor = 7 * 24 * time.Hour
	// purgedAtOnce is how many deleted webhooks one run removes.
	purgedAtOnce = 100
	purgeBatch   = 500
)

// Purger removes deleted webhooks with their deliveries, and old deliveries.
type Purger struct {
	Store *store.Store
}

// Job returns the job that purges.
func (p *Purger) Job() jobs.Job {
	return jobs.Job{Name: "remove old webhook deliveries", Interval: purgeInterval, Run: jobs.All(p.Purge), Due: p.due}
}

// Purge removes deleted webhooks with their deliveries, and old deliveries.
func (p *Purger) Purge(ctx context.Context) error {
	ids, err := p.Store.Read.Webhook.Query().Where(webhook.DisabledReason(deleted)).Limit(purgedAtOnce).IDs(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := p.remove(ctx, "webhook_id = ?", id); err != nil {
			return err
		}
		err := p.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			_, err := tx.Webhook.Delete().Where(webhook.ID(id), webhook.DisabledReason(deleted)).Exec(ctx)
			return err
		})
		if err != nil {
			return err
		}
	}
	now, err := p.Store.Clock.Now(ctx, p.Store.Read)
	if err != nil {
		return err
	}
	return p.remove(ctx, "finished_at < ?", now.Add(-keptFor))
}

// due selects the rows that Purge removes: deleted webhooks, old deliveries, and the other
// deliveries of deleted webhooks.
func (p *Purger) due() (query string, args []any) {
	old, args := jobs.Before(p.Store, "webhook_deliveries", "finished_at", keptFor)()
	now, again := p.Store.Clock.Expression()
	return old + fmt.Sprintf(` UNION ALL SELECT 1 FROM webhooks WHERE disabled_reason = '%s'
		UNION ALL SELECT 1 FROM webhooks w%swebhook_deliveries d ON d.webhook_id = w.id
			WHERE w.disabled_reason = '%s' AND (d.finished_at IS NULL OR d.finished_at >= %s - %d)`,
		deleted, p.Store.OrderedJoin(), deleted, now, keptFor.Milliseconds()), append(args, again...)
}

// remove deletes the deliveries that match a condition, in batches of purgeBatch.
func (p *Purger) remove(ctx context.Context, where string, arg any) error {
	for {
		var n int64
		err := p.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			result, err := tx.ExecContext(ctx, "DELETE FROM webhook_deliveries"+p.Store.Some("webhook_deliveries", where, purgeBatch), arg)
			if err == nil {
				n, err = result.RowsAffected()
			}
			return err
		})
		if err != nil || n < purgeBatch {
			return err
		}
	}
}
