package moderation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/banbatch"
	entpardon "github.com/moderato-live/moderato/ent/pardon"
	entsweep "github.com/moderato-live/moderato/ent/sweep"
	"github.com/moderato-live/moderato/ent/sweepchunk"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// continueSweep bans the next users of a recorded sweep, in the name of the user who
// committed it. It reports whether more remain. What remains is read in the transaction, so
// it does not matter which server continues a sweep, nor how often.
func continueSweep(ctx context.Context, c *change.Change, id digest.SHA256) (more bool, err error) {
	row, err := c.Tx.Sweep.Get(ctx, id)
	if ent.IsNotFound(err) || (err == nil && row.DueAt == nil) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if mayGoOn, err := endIfUnauthorized(ctx, c, row); err != nil || !mayGoOn {
		return false, err
	}
	next, err := c.Tx.SweepChunk.Query().Where(sweepchunk.SweepID(id)).Order(ent.Asc(sweepchunk.FieldNumber)).Limit(2).All(ctx)
	if err != nil {
		return false, err
	}
	update := c.Tx.Sweep.UpdateOneID(id)
	if len(next) > 0 {
		counts, err := joinBatch(ctx, c, row, splitIDs(next[0].UserIds))
		if err != nil {
			return false, err
		}
		update.AddBannedCount(int(counts.GetBanned())).AddAlreadyBannedCount(int(counts.GetAlreadyBanned())).
			AddExtendedCount(int(counts.GetExtended())).AddNotFoundCount(int(counts.GetUserNotFound()))
		if err := c.Tx.SweepChunk.DeleteOneID(next[0].ID).Exec(ctx); err != nil {
			return false, err
		}
	}
	if more = len(next) > 1; more {
		update.SetDueAt(c.Now.Add(continueAfter))
	} else {
		update.ClearDueAt().SetRemoveAt(c.Now.Add(resultKept))
	}
	return more, update.Exec(ctx)
}

// endIfUnauthorized reports whether the author of a sweep may still ban users in the channel.
// If not, it ends the sweep.
func endIfUnauthorized(ctx context.Context, c *change.Change, row *ent.Sweep) (mayGoOn bool, err error) {
	mayGoOn, err = authz.StillModerates(ctx, c.Store, c.Tx, c.ChannelID, *row.ModeratorID)
	if err == nil && mayGoOn && row.NeedsGrant {
		mayGoOn, err = authz.HasGrant(ctx, c.Tx, row.ClientID, *row.ModeratorID, authn.ChannelModerate)
	}
	if err != nil || mayGoOn {
		return mayGoOn, err
	}
	return false, endSweepRow(ctx, c, row)
}

// joinBatch bans users as part of the batch of a sweep, unless they are banned already.
func joinBatch(ctx context.Context, c *change.Change, row *ent.Sweep, ids []uid.ID) (*moderatov1.BatchCounts, error) {
	c.ActorID, c.ClientID = *row.ModeratorID, row.ClientID
	keys := make([]users.Key, len(ids))
	for i, id := range ids {
		keys[i] = users.Key{ID: id}
	}
	expiresAt, err := expiryOfJoined(ctx, c, row)
	if err != nil {
		return nil, err
	}
	b, err := readBanChange(ctx, c, keys)
	if err != nil {
		return nil, err
	}
	counts := b.banAll(keys, terms{reason: row.Reason, expiresAt: expiresAt, batchID: row.BatchID}, false).GetCounts()
	made := madeBans(counts)
	if made == 0 {
		return counts, nil
	}
	if err := b.write(ctx); err != nil {
		return nil, err
	}
	return counts, c.Tx.BanBatch.UpdateOneID(*row.BatchID).AddBannedCount(made).SetLastSequence(c.LastSequence()).Exec(ctx)
}

// expiryOfJoined returns when bans end that join the batch of a sweep now: they last as long
// as those that the batch began with, and begin later.
func expiryOfJoined(ctx context.Context, c *change.Change, row *ent.Sweep) (*instant.Instant, error) {
	if row.BansExpireAt == nil {
		return nil, nil //nolint:nilnil // the bans last until they are removed
	}
	b, err := c.Tx.BanBatch.Get(ctx, *row.BatchID)
	if err != nil {
		return nil, err
	}
	return new(c.Now.Add(row.BansExpireAt.Sub(b.CreatedAt))), nil
}

// endSweep ends the sweep that made a batch, if one did: neither it nor its afterglow bans
// anyone from then on.
func endSweep(ctx context.Context, c *change.Change, batchID uid.ID) error {
	row, err := c.Tx.Sweep.Query().Where(entsweep.BatchID(batchID)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return endSweepRow(ctx, c, row)
}

// endSweepsOf ends the sweeps of the channel that a moderator committed.
func endSweepsOf(ctx context.Context, c *change.Change, moderatorID uid.ID) error {
	rows, err := c.Tx.Sweep.Query().Where(entsweep.ChannelID(c.ChannelID), entsweep.ModeratorID(moderatorID),
		entsweep.Or(entsweep.DueAtNotNil(), entsweep.AfterglowUntilGT(c.Now))).All(ctx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := endSweepRow(ctx, c, row); err != nil {
			return err
		}
	}
	return nil
}

func endSweepRow(ctx context.Context, c *change.Change, row *ent.Sweep) error {
	update := c.Tx.Sweep.UpdateOneID(row.ID).ClearDueAt().ClearAfterglowUntil()
	if row.DueAt != nil {
		update.SetEndedAt(c.Now).SetRemoveAt(c.Now.Add(resultKept))
	}
	if err := update.Exec(ctx); err != nil {
		return err
	}
	_, err := c.Tx.SweepChunk.Delete().Where(sweepchunk.SweepID(row.ID)).Exec(ctx)
	return err
}

// SweepCompleter completes the sweeps whose server stopped, and removes old ones. Several
// servers may run it at the same time.
type SweepCompleter struct {
	Store *store.Store
}

const (
	// sweepsRemoved is how many old sweeps one transaction removes.
	sweepsRemoved = 20
	// beginTime is how long a run begins with further sweeps of a channel. The next run
	// completes the others.
	beginTime = time.Second
	// completeTime bounds what a run does for one channel. It suffices for the up to 20
	// transactions of a sweep: a sweep that is interrupted is due again only after
	// continueAfter.
	completeTime = 5 * time.Second
)

// Complete completes the sweeps that are due, or begins to: a channel with many sweeps, or
// whose changes wait, does not delay the sweeps of other channels.
func (w *SweepCompleter) Complete(ctx context.Context) error {
	now, err := w.Store.Clock.Now(ctx, w.Store.Read)
	if err != nil {
		return err
	}
	due, err := jobs.FindDue[digest.SHA256](ctx, w.Store, "sweeps", "id", "due_at", "1 = 1", now)
	if err != nil {
		return fmt.Errorf("find sweeps to complete: %w", err)
	}
	_, err = jobs.EachChannelWithin(ctx, completeTime, due, w.completeOf)
	return err
}

// completeOf completes sweeps of a channel, one after the other. It returns how many are
// complete.
func (w *SweepCompleter) completeOf(ctx context.Context, channelID uid.ID, ids []digest.SHA256) (completed int, err error) {
	end := time.Now().Add(beginTime)
	for n, id := range ids {
		if n > 0 && time.Now().After(end) {
			break
		}
		failed := completeSweep(ctx, w.Store, channelID, id)
		switch {
		case failed == nil:
			completed++
		case ctx.Err() != nil:
			if err == nil { // an earlier failure is reported instead
				err = ctx.Err()
			}
			return completed, err
		default:
			err = errors.Join(err, fmt.Errorf("complete a sweep of channel %s: %w", channelID, failed), w.postpone(ctx, id))
		}
	}
	return completed, err
}

// postpone lets other sweeps go before one that could not be completed.
func (w *SweepCompleter) postpone(ctx context.Context, id digest.SHA256) error {
	return w.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		now, err := w.Store.Clock.Now(ctx, tx)
		if err != nil {
			return err
		}
		return tx.Sweep.Update().Where(entsweep.ID(id), entsweep.DueAtLTE(now)).SetDueAt(now.Add(continueAfter)).Exec(ctx)
	})
}

// RemoveOld removes old sweeps with the users whom they were to ban, and with the batch of a
// sweep that banned nobody: otherwise previews without a match could fill the database. It
// reports whether there may be more.
func (w *SweepCompleter) RemoveOld(ctx context.Context) (more bool, err error) {
	now, err := w.Store.Clock.Now(ctx, w.Store.Read)
	if err != nil {
		return false, err
	}
	old, err := w.Store.Read.Sweep.Query().Where(entsweep.RemoveAtLTE(now)).Limit(sweepsRemoved).
		Select(entsweep.FieldID, entsweep.FieldBatchID).All(ctx)
	if err != nil || len(old) == 0 {
		return false, err
	}
	var ids []digest.SHA256
	var batches []uid.ID
	for _, row := range old {
		ids = append(ids, row.ID)
		if row.BatchID != nil {
			batches = append(batches, *row.BatchID)
		}
	}
	err = w.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		// A sweep whose time has come can no longer be committed.
		if _, err := tx.SweepChunk.Delete().Where(sweepchunk.SweepIDIn(ids...)).Exec(ctx); err != nil {
			return err
		}
		if _, err := tx.Pardon.Delete().Where(entpardon.SweepIDIn(ids...)).Exec(ctx); err != nil {
			return err
		}
		if _, err := tx.Sweep.Delete().Where(entsweep.IDIn(ids...)).Exec(ctx); err != nil {
			return err
		}
		_, err := tx.BanBatch.Delete().Where(banbatch.IDIn(batches...), banbatch.BannedCount(0)).Exec(ctx)
		return err
	})
	return err == nil && len(old) == sweepsRemoved, err
}
