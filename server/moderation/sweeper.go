package moderation

import (
	"context"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/mute"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/jobs"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

// sweepInterval is the interval between sweeps. It is short enough to announce a lapse
// within a second.
const sweepInterval = 500 * time.Millisecond

// Sweeper announces lapsed mutes and removes their rows. The removal and the event are in
// one transaction, so every lapse is announced exactly once, even if several servers
// sweep or a server crashes. Whether a mute is active never depends on the Sweeper.
type Sweeper struct {
	Store *store.Store
}

// Sweep handles every mute that has lapsed.
func (w *Sweeper) Sweep(ctx context.Context) error {
	for {
		now, err := w.Store.Clock.Now(ctx, w.Store.Read)
		if err != nil {
			return err
		}
		lapsed, err := jobs.FindLapsed(ctx, w.Store, "mutes", "expires_at", "1 = 1", now)
		if err != nil {
			return fmt.Errorf("find lapsed mutes: %w", err)
		}
		progress, err := jobs.EachChannel(ctx, lapsed, w.expire)
		if err != nil || !progress {
			return err
		}
	}
}

// expire announces and removes the lapsed mutes of some users in a channel. It returns
// their number.
func (w *Sweeper) expire(ctx context.Context, channelID uid.ID, users []uid.ID) (expired int, err error) {
	err = change.ApplyUnattended(ctx, w.Store, channelID, func(ctx context.Context, c *change.Change) error {
		// Another server may have handled some of them already.
		rows, err := c.Tx.Mute.Query().
			Where(mute.ChannelID(channelID), mute.UserIDIn(users...), mute.ExpiresAtLTE(c.Now)).
			Order(ent.Asc(mute.FieldExpiresAt, mute.FieldUserID)).
			All(ctx)
		if err != nil {
			return err
		}
		expired = len(rows)
		for _, row := range rows {
			if err := expireMute(ctx, c, row); err != nil {
				return err
			}
		}
		return nil
	})
	return expired, err
}
