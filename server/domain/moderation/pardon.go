package moderation

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	entpardon "github.com/moderato-live/moderato/ent/pardon"
	entsweep "github.com/moderato-live/moderato/ent/sweep"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/store"
)

// pardon exempts users from the afterglows that run in the channel.
func pardon(ctx context.Context, c *change.Change, ids []uid.ID) error {
	if len(ids) == 0 {
		return nil
	}
	sweeps, err := c.Tx.Sweep.Query().Where(entsweep.ChannelID(c.ChannelID), entsweep.AfterglowUntilGT(c.Now)).IDs(ctx)
	if err != nil {
		return err
	}
	for _, sweep := range sweeps {
		held, err := c.Tx.Pardon.Query().Where(entpardon.SweepID(sweep), entpardon.ChannelID(c.ChannelID), entpardon.UserIDIn(ids...)).All(ctx)
		if err != nil {
			return err
		}
		isHeld := map[uid.ID]bool{}
		for _, row := range held {
			isHeld[row.UserID] = true
		}
		var rows []*ent.PardonCreate
		for _, id := range ids {
			if !isHeld[id] {
				rows = append(rows, c.Tx.Pardon.Create().SetID(uid.New()).SetSweepID(sweep).SetChannelID(c.ChannelID).SetUserID(id))
			}
		}
		if err := c.Tx.Pardon.CreateBulk(rows...).Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// isPardoned reports whether a user is exempt from the afterglow of a sweep.
func isPardoned(ctx context.Context, q store.Queryer, channelID uid.ID, sweep digest.SHA256, userID uid.ID) (pardoned bool, err error) {
	err = store.QueryRow(ctx, q, "SELECT EXISTS (SELECT 1 FROM pardons WHERE sweep_id = ? AND user_id = ? AND channel_id = ?)",
		[]any{sweep, userID, channelID}, &pardoned)
	return pardoned, err
}
