package chat

import (
	"context"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

const (
	// stride is the distance between the generations of a user. It is larger than the
	// generation of any channel, so that the sum in a message belongs to one pair of
	// generations: no clearing of the chat makes one sum equal to another.
	stride = 1 << 32

	// RestorableFor is how long the messages that a batch of bans deleted can be
	// restored.
	RestorableFor = 24 * time.Hour
)

// raised is the SQL expression for a generation that no message of the user has.
var raised = fmt.Sprintf("COALESCE(restored_from, generation) + %d", stride)

// Clear deletes every message that a user posted in a channel until now. The transaction
// must hold the channel's lock.
func Clear(ctx context.Context, tx *ent.Tx, channelID, userID uid.ID, now instant.Instant) error {
	// A database of the MySQL family assigns from left to right.
	result, err := tx.ExecContext(ctx, `UPDATE message_generations
		SET generation = `+raised+`, raised_at = ?, purge_at = ?,
			restorable = NULL, restorable_until = NULL, restorable_raised_at = NULL, restored_from = NULL
		WHERE channel_id = ? AND user_id = ?`, now, now, channelID, userID)
	if err != nil {
		return fmt.Errorf("clear messages: %w", err)
	}
	n, err := result.RowsAffected()
	if err == nil && n == 0 {
		err = tx.MessageGeneration.Create().SetChannelID(channelID).SetUserID(userID).
			SetGeneration(stride).SetRaisedAt(now).SetPurgeAt(now).
			Exec(ctx)
	}
	if err != nil {
		return fmt.Errorf("clear messages: %w", err)
	}
	return nil
}

// ClearRestorably is Clear for the users of a batch of bans. Restore undoes it for
// RestorableFor, unless another Clear follows.
func ClearRestorably(ctx context.Context, tx *ent.Tx, channelID uid.ID, users []uid.ID, now instant.Instant) error {
	until := now.Add(RestorableFor)
	purgeAt := until.Add(lastLook)
	args := append([]any{channelID}, store.Args(users)...)
	in := "user_id IN (" + store.Placeholders(len(users)) + ")"
	has := make(map[uid.ID]bool, len(users))
	err := store.QueryEach(ctx, tx, "SELECT user_id FROM message_generations WHERE channel_id = ? AND "+in, args, func(scan func(...any) error) error {
		var id uid.ID
		err := scan(&id)
		has[id] = true
		return err
	})
	if err != nil {
		return fmt.Errorf("clear messages of a batch: %w", err)
	}
	if len(has) > 0 {
		// A database of the MySQL family assigns from left to right. A purge that is
		// due earlier leaves the messages that can be restored.
		_, err = tx.ExecContext(ctx, `UPDATE message_generations
			SET restorable = generation, restorable_until = ?, restorable_raised_at = raised_at,
				generation = `+raised+`, raised_at = ?, purge_at = COALESCE(purge_at, ?), restored_from = NULL
			WHERE channel_id = ? AND `+in, append([]any{until, now, purgeAt}, args...)...)
	}
	var without []uid.ID
	for _, id := range users {
		if !has[id] {
			without = append(without, id)
		}
	}
	if err == nil && len(without) > 0 {
		_, err = tx.ExecContext(ctx, `INSERT INTO message_generations
			(channel_id, user_id, generation, raised_at, purge_at, restorable, restorable_until, restorable_raised_at)
			SELECT ?, id, ?, ?, ?, 0, ?, 0 FROM users WHERE id IN (`+store.Placeholders(len(without))+`)`,
			append([]any{channelID, stride, now, purgeAt, until}, store.Args(without)...)...)
	}
	if err != nil {
		return fmt.Errorf("clear messages of a batch: %w", err)
	}
	return nil
}

// Restore undoes ClearRestorably for some users, where no Clear followed. The bans of the
// batch must be in force, so that no message has the generation that the batch made. The
// transaction must hold the channel's lock, and keep the users from being deleted.
func Restore(ctx context.Context, tx *ent.Tx, channelID uid.ID, users []uid.ID, now instant.Instant) error {
	if len(users) == 0 {
		return nil
	}
	// A database of the MySQL family assigns from left to right.
	_, err := tx.ExecContext(ctx, `UPDATE message_generations
		SET restored_from = generation, generation = restorable, raised_at = restorable_raised_at, purge_at = ?,
			restorable = NULL, restorable_until = NULL, restorable_raised_at = NULL
		WHERE channel_id = ? AND restorable_until > ? AND user_id IN (`+store.Placeholders(len(users))+`)`,
		append([]any{now.Add(lastLook), channelID, now}, store.Args(users)...)...)
	if err != nil {
		return fmt.Errorf("restore messages: %w", err)
	}
	return nil
}
