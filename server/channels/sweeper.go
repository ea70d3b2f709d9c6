package channels

import (
	"context"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/subscription"
	"github.com/moderato-live/moderato/server/events"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// SweepInterval is how often to sweep.
	SweepInterval = time.Second
	sweepBatch    = 100
)

// Sweeper takes subscriptions that have lapsed off their channel's counters.
// Whether a subscription is active never depends on it: what reads counts them
// looks at the end as well, for the few that are still to be swept.
type Sweeper struct {
	Store *store.Store
}

// Sweep handles every subscription that has lapsed by now.
func (w *Sweeper) Sweep(ctx context.Context) error {
	for {
		now, err := w.Store.Clock.Now(ctx, w.Store.Read)
		if err != nil {
			return err
		}
		lapsed, err := w.Store.Read.Subscription.Query().
			Where(subscription.IsActive(true), subscription.ExpiresAtLTE(now)).
			Order(ent.Asc(subscription.FieldExpiresAt)).Limit(sweepBatch).
			All(ctx)
		if err != nil {
			return fmt.Errorf("find lapsed subscriptions: %w", err)
		}
		for _, row := range lapsed {
			if err := w.lapse(ctx, row); err != nil {
				return err
			}
		}
		if len(lapsed) < sweepBatch {
			return nil
		}
	}
}

func (w *Sweeper) lapse(ctx context.Context, found *ent.Subscription) error {
	return events.ApplyUnattended(ctx, w.Store, found.ChannelID, func(ctx context.Context, c *events.Change) error {
		row, err := c.Tx.Subscription.Query().
			Where(subscription.ChannelID(found.ChannelID), subscription.UserID(found.UserID)).
			Only(ctx)
		if ent.IsNotFound(err) || (err == nil && (!row.IsActive || c.Now < row.ExpiresAt)) {
			return nil // another server was first, or it was renewed
		}
		if err != nil {
			return err
		}
		channel, err := c.Tx.Channel.Get(ctx, row.ChannelID)
		if err != nil {
			return err
		}
		update := c.Tx.Channel.UpdateOne(channel).AddSubscriberCount(-1)
		if channel.LiveStartedAt != nil && row.SubscribedAt >= *channel.LiveStartedAt {
			update.AddNewSubscriberCount(-1)
		}
		if err := update.Exec(ctx); err != nil {
			return err
		}
		_, err = c.Tx.Subscription.Update().
			Where(subscription.ChannelID(row.ChannelID), subscription.UserID(row.UserID)).
			SetIsActive(false).
			Save(ctx)
		return err
	})
}
