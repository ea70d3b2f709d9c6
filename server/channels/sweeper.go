package channels

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/subscription"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/audience"
	"github.com/moderato-live/moderato/server/events"
	"github.com/moderato-live/moderato/server/fault"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/users"
)

const (
	// SweepInterval is how often to sweep.
	SweepInterval = time.Second
	sweepBatch    = 100
)

// Sweeper takes subscriptions that have lapsed off their channel's counters, and
// tells of their end. Whether a subscription is active never depends on it: what
// reads counts them looks at the end as well, for the few that are still to be
// swept.
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
		ended := 0
		for _, row := range lapsed {
			isMine, err := w.lapse(ctx, row)
			if err != nil {
				return err
			}
			if isMine {
				ended++
			}
		}
		// What is left of a channel that is gone is the eraser's.
		if len(lapsed) < sweepBatch || ended == 0 {
			return nil
		}
	}
}

// lapse ends a subscription, and answers whether it did.
func (w *Sweeper) lapse(ctx context.Context, found *ent.Subscription) (isMine bool, err error) {
	err = events.ApplyUnattended(ctx, w.Store, found.ChannelID, func(ctx context.Context, c *events.Change) error {
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
		ended := &ent.Subscription{
			ChannelID: row.ChannelID, UserID: row.UserID, SubscribedAt: row.SubscribedAt, ExpiresAt: row.ExpiresAt,
			RenewCount: row.RenewCount, StreakCount: row.StreakCount,
		}
		user, err := users.Get(ctx, c.Tx.User, row.UserID)
		switch {
		case err == nil:
			audience.EmitSubscription(c, events.SubscriptionEnd, user, ended)
		case !errors.Is(err, fault.New(moderatov1.Reason_REASON_USER_NOT_FOUND)): // of who is being deleted nothing is told
			return err
		}
		isMine = true
		return audience.PutSubscription(ctx, c.Tx, channel, row, ended)
	})
	return isMine, err
}
