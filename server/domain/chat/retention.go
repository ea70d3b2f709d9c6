package chat

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

const (
	// MinRetention is how long messages are kept at least. Nothing that a message decides is
	// older: chatters, the conditions of sweeps, and undoing a deletion.
	MinRetention = chatterTime

	// retentionInterval is how often to look for work, and roundInterval how much later the
	// time of the next round is: each round visits every channel.
	retentionInterval = time.Minute
	roundInterval     = time.Hour
	// retentionBatch is how many messages one transaction removes, and retentionChannels how
	// many channels one run visits.
	retentionBatch    = 200
	retentionChannels = 500

	bySentAt = "message_channel_id_sent_at_id"
	theRound = "messages" // the id of the row of retentions
)

// Retention removes messages that are older than they are kept, in rounds through all channels.
// The row of retentions has the state of the round. So Retention may be killed at any point, and
// another server continues. For each user, first_messages keeps when the first of the removed
// messages was posted. A message that is pinned stays.
type Retention struct {
	store   *store.Store
	keep    time.Duration
	lease   *jobs.Lease
	removed atomic.Int64
}

// NewRetention returns a Retention that keeps messages for a time; 0 is forever.
func NewRetention(s *store.Store, log *slog.Logger, keep time.Duration) *Retention {
	return &Retention{store: s, keep: keep, lease: jobs.NewLease(s, log, "retentions", theRound)}
}

// Job returns the job that removes old messages.
func (r *Retention) Job() jobs.Job {
	job := jobs.Job{Name: "remove old messages", Interval: retentionInterval, Run: r.Remove, Behind: r.behind, Removed: &r.removed}
	if r.keep > 0 {
		job.MaxRest, job.Lease, job.Stop = maxRest, r.lease, r.lease.Release
	}
	return job
}

// behind returns how much older than the retention a message may be that is stored; 0 before the
// first round has ended.
func (r *Retention) behind(ctx context.Context) (time.Duration, error) {
	row, before, err := r.read(ctx)
	if err != nil || r.keep == 0 || row.DoneBefore == 0 {
		return 0, err
	}
	return max(0, before.Sub(row.DoneBefore)), nil
}

// read returns the state of the rounds, and the time before which messages are too old now.
func (r *Retention) read(ctx context.Context) (row *ent.Retention, before instant.Instant, err error) {
	now, err := r.store.Clock.Now(ctx, r.store.Read)
	if err != nil {
		return nil, 0, err
	}
	row, err = r.store.Read.Retention.Get(ctx, theRound)
	return row, now.Add(-r.keep), err
}

// Remove removes a batch of old messages. It reports whether the round goes on. It does nothing if
// another server holds the lease.
func (r *Retention) Remove(ctx context.Context) (more bool, err error) {
	if r.keep == 0 {
		return false, nil
	}
	if held, err := r.lease.Take(ctx); err != nil || !held {
		return false, err
	}
	row, before, err := r.read(ctx)
	if err != nil {
		return false, err
	}
	if row.RoundBefore == row.DoneBefore {
		if before < row.DoneBefore.Add(roundInterval) {
			return false, nil
		}
		row.RoundBefore = before
	}
	// The row says before which time messages may be gone, so the round keeps to it.
	found, err := r.find(ctx, row.RoundAfter, min(before, row.RoundBefore))
	if err != nil {
		return false, err
	}
	removed := 0
	held, err := r.lease.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ instant.Instant) error {
		if removed, err = found.remove(ctx, tx, r.store.Dialect); err != nil {
			return err
		}
		state := tx.Retention.UpdateOneID(theRound).SetRoundBefore(row.RoundBefore)
		if found.isLast {
			return state.SetDoneBefore(row.RoundBefore).ClearRoundAfter().Exec(ctx)
		}
		return state.SetRoundAfter(found.after).Exec(ctx)
	})
	if err != nil || !held {
		return false, err
	}
	r.removed.Add(int64(removed))
	return !found.isLast, nil
}

// outdated are messages that one transaction removes.
type outdated struct {
	ids []uid.ID
	// after is the last channel without further old messages. isLast reports that it is the
	// last of all.
	after  uid.ID
	isLast bool
}

// find returns old messages of the channels that follow one, which is nil at the start of a round.
func (r *Retention) find(ctx context.Context, after *uid.ID, before instant.Instant) (*outdated, error) {
	found := &outdated{}
	if after != nil {
		found.after = *after
	}
	channels, oldest := []uid.ID(nil), []*instant.Instant(nil)
	err := store.QueryEach(ctx, r.store.Read, "SELECT c.id, (SELECT m.sent_at FROM messages m"+r.store.ByIndex(bySentAt)+
		" WHERE m.channel_id = c.id ORDER BY m.channel_id, m.sent_at LIMIT 1) FROM channels c"+r.store.ByPrimaryKey("channels")+" WHERE c.id > ? ORDER BY c.id"+store.Limit(retentionChannels),
		[]any{found.after}, func(scan func(...any) error) error {
			var id uid.ID
			var at *instant.Instant
			err := scan(&id, &at)
			channels, oldest = append(channels, id), append(oldest, at)
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("find channels with old messages: %w", err)
	}
	for i, id := range channels {
		if oldest[i] != nil && *oldest[i] < before {
			if err := r.findIn(ctx, found, id, before); err != nil {
				return nil, fmt.Errorf("find old messages of %s: %w", id, err)
			}
			if len(found.ids) == retentionBatch {
				return found, nil // the next batch begins with this channel
			}
		}
		found.after = id
	}
	found.isLast = len(channels) < retentionChannels
	return found, nil
}

// findIn adds old messages of a channel, up to a full batch.
func (r *Retention) findIn(ctx context.Context, found *outdated, channelID uid.ID, before instant.Instant) error {
	return store.QueryEach(ctx, r.store.Read, "SELECT m.id FROM messages m"+r.store.ByIndex(bySentAt)+
		" WHERE m.channel_id = ? AND m.sent_at < ? ORDER BY m.sent_at LIMIT ?",
		[]any{channelID, before, retentionBatch - len(found.ids)}, func(scan func(...any) error) error {
			var id uid.ID
			err := scan(&id)
			found.ids = append(found.ids, id)
			return err
		})
}

// remove removes the messages, and returns their number.
func (o *outdated) remove(ctx context.Context, tx *ent.Tx, d *store.Dialect) (removed int, err error) {
	if len(o.ids) == 0 {
		return 0, nil
	}
	old := " WHERE id IN (" + store.Placeholders(len(o.ids)) + ")"
	// An import may have stored an earlier message since the first was removed.
	proposed := d.Proposed("sent_at")
	_, err = tx.ExecContext(ctx, "INSERT INTO first_messages (channel_id, user_id, sent_at) SELECT channel_id, user_id, MIN(sent_at) FROM messages"+old+
		" GROUP BY channel_id, user_id"+d.Upsert("channel_id, user_id")+
		"sent_at = CASE WHEN first_messages.sent_at < "+proposed+" THEN first_messages.sent_at ELSE "+proposed+" END", store.Args(o.ids)...)
	if err != nil {
		return 0, fmt.Errorf("keep the times of first messages: %w", err)
	}
	result, err := tx.ExecContext(ctx, "DELETE FROM messages"+old+
		" AND NOT EXISTS (SELECT 1 FROM pinned_messages p WHERE p.channel_id = messages.channel_id AND p.message_id = messages.id)", store.Args(o.ids)...)
	if err != nil {
		return 0, fmt.Errorf("remove old messages: %w", err)
	}
	count, err := result.RowsAffected()
	return int(count), err
}
