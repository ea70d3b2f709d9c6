package moderation

import (
	"context"

	entsweep "github.com/moderato-live/moderato/ent/sweep"
	"github.com/moderato-live/moderato/ent/sweepchunk"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/store"
)

// displacePreviews makes room for another preview of the caller, by ending the oldest ones of
// the caller and of the channel. Their tokens expire, and the users whom they found are
// removed. So are those of previews that have expired already.
func displacePreviews(ctx context.Context, c *change.Change) error {
	var ended []digest.SHA256
	own, all := 1, 1
	// Each preview that found users has a first chunk. A channel has few chunks, but may have
	// many sweeps: those that were committed or displaced.
	err := store.QueryEach(ctx, c.Tx, `SELECT s.id, s.user_id, s.expires_at
		FROM sweep_chunks x JOIN sweeps s ON s.id = x.sweep_id AND s.channel_id = x.channel_id
		WHERE x.channel_id = ? AND x.number = 0 AND s.batch_id IS NULL
		ORDER BY s.expires_at DESC, x.id DESC`+store.Limit(2*channelPreviews), []any{c.ChannelID}, func(scan func(...any) error) error {
		var id digest.SHA256
		var userID uid.ID
		var expiresAt instant.Instant
		if err := scan(&id, &userID, &expiresAt); err != nil {
			return err
		}
		isOwn := userID == c.ActorID
		if expiresAt <= c.Now || all == channelPreviews || (isOwn && own == userPreviews) {
			ended = append(ended, id)
			return nil
		}
		all++
		if isOwn {
			own++
		}
		return nil
	})
	if err != nil || len(ended) == 0 {
		return err
	}
	err = c.Tx.Sweep.Update().Where(entsweep.IDIn(ended...), entsweep.ExpiresAtGT(c.Now)).
		SetExpiresAt(c.Now).SetRemoveAt(c.Now.Add(sweepKept)).Exec(ctx)
	if err != nil {
		return err
	}
	_, err = c.Tx.SweepChunk.Delete().Where(sweepchunk.SweepIDIn(ended...)).Exec(ctx)
	return err
}
