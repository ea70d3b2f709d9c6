package moderation

import (
	"context"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/mute"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// expireInterval is the interval between two looks for lapsed rows. It is short enough to
// announce a lapse within a second.
const expireInterval = 500 * time.Millisecond

// Expirer announces lapsed mutes and bans and removes their rows. The removal and the
// event are in one transaction, so every lapse is announced exactly once, even if several
// servers look or a server crashes. Whether a mute or ban is in force never depends on
// the Expirer.
type Expirer struct {
	Store *store.Store
}

// ofExistingChannel is the condition that the channel of a ban exists. In a deleted channel
// there is nothing to announce, and the eraser removes its bans.
const ofExistingChannel = "EXISTS (SELECT 1 FROM channels c WHERE c.id = bans.channel_id)"

// ExpireMutes handles every mute that has lapsed.
func (e *Expirer) ExpireMutes(ctx context.Context) error {
	return e.expireAll(ctx, "mutes", "1 = 1", e.expireMutes)
}

// ExpireBans handles every ban that has lapsed.
func (e *Expirer) ExpireBans(ctx context.Context) error {
	return e.expireAll(ctx, "bans", ofExistingChannel, e.expireBans)
}

func (e *Expirer) expireAll(ctx context.Context, table, condition string, expire jobs.Handler[uid.ID]) error {
	for {
		now, err := e.Store.Clock.Now(ctx, e.Store.Read)
		if err != nil {
			return err
		}
		lapsed, err := jobs.FindLapsed(ctx, e.Store, table, "expires_at", condition, now)
		if err != nil {
			return fmt.Errorf("find lapsed %s: %w", table, err)
		}
		progress, err := jobs.EachChannel(ctx, lapsed, expire)
		if err != nil || !progress {
			return err
		}
	}
}

// expireMutes announces and removes the lapsed mutes of some users in a channel. It
// returns their number.
func (e *Expirer) expireMutes(ctx context.Context, channelID uid.ID, users []uid.ID) (expired int, err error) {
	err = change.ApplyUnattended(ctx, e.Store, channelID, func(ctx context.Context, c *change.Change) error {
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

// expireBans is expireMutes for bans.
func (e *Expirer) expireBans(ctx context.Context, channelID uid.ID, users []uid.ID) (expired int, err error) {
	err = change.ApplyUnattended(ctx, e.Store, channelID, func(ctx context.Context, c *change.Change) error {
		lapsed, err := readBans(ctx, c.Tx, channelID, "b.expires_at <= ? AND b.user_id IN ("+store.Placeholders(len(users))+")", "b.expires_at, b.user_id",
			append([]any{c.Now}, store.Args(users)...)...)
		if err != nil {
			return err
		}
		expired = len(lapsed)
		return expireBans(ctx, c, lapsed)
	})
	return expired, err
}
