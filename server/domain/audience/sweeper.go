package audience

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// sweepInterval is the interval between sweeps.
const sweepInterval = time.Second

// toSweep is the condition for the subscriptions that the Sweeper ends once they lapse. The
// eraser removes those of a deleted channel.
const toSweep = "is_active = TRUE AND EXISTS (SELECT 1 FROM channels c WHERE c.id = subscriptions.channel_id)"

// Sweeper removes lapsed subscriptions from their channel's counters and emits an event
// for their end. Whether a subscription is active never depends on the Sweeper: a read
// of the counters also checks expires_at, for the few subscriptions that are not swept
// yet.
type Sweeper struct {
	Store *store.Store
}

// Sweep handles every subscription that has lapsed.
func (w *Sweeper) Sweep(ctx context.Context) error {
	for {
		now, err := w.Store.Clock.Now(ctx, w.Store.Read)
		if err != nil {
			return err
		}
		lapsed, err := jobs.FindLapsed(ctx, w.Store, "subscriptions", "expires_at", toSweep, now)
		if err != nil {
			return fmt.Errorf("find lapsed subscriptions: %w", err)
		}
		progress, err := jobs.EachChannel(ctx, lapsed, w.lapseAll)
		if err != nil || !progress {
			return err
		}
	}
}

// lapseAll ends the lapsed subscriptions of some users to a channel. It returns how many
// it ended.
func (w *Sweeper) lapseAll(ctx context.Context, channelID uid.ID, users []uid.ID) (ended int, err error) {
	for _, userID := range users {
		isMine, err := w.lapse(ctx, channelID, userID)
		if err != nil {
			return ended, err
		}
		if isMine {
			ended++
		}
	}
	return ended, nil
}

// lapse ends a lapsed subscription and reports whether it did.
func (w *Sweeper) lapse(ctx context.Context, channelID, userID uid.ID) (isMine bool, err error) {
	err = change.ApplyUnattended(ctx, w.Store, channelID, func(ctx context.Context, c *change.Change) error {
		isMine = false
		row, err := FindSubscription(ctx, c.Tx, channelID, userID)
		if err != nil || row == nil || !row.IsActive || c.Now < row.ExpiresAt {
			return err // another server ended it, or it was renewed
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
			EmitSubscription(c, "channel.subscription.end", user, ended)
		case !errors.Is(err, apierr.New(moderatov1.Reason_REASON_USER_NOT_FOUND)): // no event about a user who is being deleted
			return err
		}
		isMine = true
		return PutSubscription(ctx, c.Tx, channel, row, ended)
	})
	return isMine, err
}
