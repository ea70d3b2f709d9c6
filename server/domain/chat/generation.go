package chat

import (
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/message"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// stride is the distance between the generations of a user. It is larger than the
	// generation of any channel, so that the sum in a message belongs to one pair of
	// generations: no clearing of the chat makes one sum equal to another.
	stride = 1 << 32

	// RestorableFor is how long the messages that a ban or mute deleted can be restored.
	RestorableFor = 24 * time.Hour
)

// Sanction is what deletes all messages of a user in a channel.
type Sanction bool

// The sanctions. Of each, a user has at most one in a channel.
const (
	Ban  Sanction = false
	Mute Sanction = true
)

// raised is the SQL assignments for a deletion of all messages: to a generation that no
// message of the user has. A database of the MySQL family assigns from left to right. The
// generation before stays known, and so does the one before that if the other sanction
// replaced it. A purge that is due earlier leaves the messages that can be restored.
var raised = fmt.Sprintf(`
	earlier = CASE WHEN restorable_by_mute <> ? THEN restorable END,
	earlier_until = CASE WHEN restorable_by_mute <> ? THEN restorable_until END,
	earlier_raised_at = CASE WHEN restorable_by_mute <> ? THEN restorable_raised_at END,
	restorable = generation, restorable_until = ?, restorable_raised_at = raised_at, restorable_by_mute = ?,
	generation = COALESCE(restored_from, generation) + %d, raised_at = ?, purge_at = COALESCE(purge_at, ?), restored_from = NULL`, stride)

// raisedArgs returns the arguments of raised.
func raisedArgs(by Sanction, now instant.Instant) []any {
	until := now.Add(RestorableFor)
	return []any{by, by, by, until, by, now, until.Add(lastLook)}
}

// Clear deletes every message that some users posted in a channel until now, as part of a
// sanction. Restore undoes it for RestorableFor. The transaction must hold the channel's lock.
func Clear(ctx context.Context, tx *ent.Tx, d *store.Dialect, channelID uid.ID, chatters []uid.ID, by Sanction, now instant.Instant) error {
	until := now.Add(RestorableFor)
	_, err := tx.ExecContext(ctx, `INSERT INTO message_generations
		(channel_id, user_id, generation, raised_at, purge_at, restorable, restorable_until, restorable_raised_at, restorable_by_mute)
		SELECT ?, id, ?, ?, ?, 0, ?, 0, ? FROM users`+d.ByPrimaryKey("users")+` WHERE `+users.Exists+` AND id IN (`+store.Placeholders(len(chatters))+`)`+
		d.Upsert("channel_id, user_id")+raised,
		slices.Concat([]any{channelID, stride, now, until.Add(lastLook), until, by}, store.Args(chatters), raisedArgs(by, now))...)
	if err != nil {
		return fmt.Errorf("clear messages: %w", err)
	}
	return nil
}

// ClearUntil is Clear for a sanction that was imported: it deletes the messages that a user
// posted until an instant, and none that was posted later. It does nothing if a later deletion
// has done so.
func ClearUntil(ctx context.Context, tx *ent.Tx, d *store.Dialect, channelID, userID uid.ID, by Sanction, at instant.Instant) error {
	of := []any{channelID, userID, channelID}
	read := func() (sum int64, raisedAt instant.Instant, err error) {
		err = store.QueryRow(ctx, tx, "SELECT "+generation("?", "?")+", COALESCE((SELECT raised_at FROM message_generations WHERE channel_id = ? AND user_id = ?), 0)",
			append(of, channelID, userID), &sum, &raisedAt)
		return sum, raisedAt, err
	}
	before, raisedAt, err := read()
	if err != nil || raisedAt >= at {
		return err
	}
	if err := Clear(ctx, tx, d, channelID, []uid.ID{userID}, by, at); err != nil {
		return err
	}
	after, _, err := read()
	if err != nil {
		return err
	}
	return tx.Message.Update().Where(message.UserID(userID), message.ChannelID(channelID), message.Generation(before), message.SentAtGT(at)).
		SetGeneration(after).Exec(ctx)
}

// RemovedBefore returns the time before which retention has removed messages, which Restore cannot
// restore; nil if it has removed none.
func RemovedBefore(ctx context.Context, tx *ent.Tx) (*timestamppb.Timestamp, error) {
	row, err := tx.Retention.Get(ctx, theRound)
	if err != nil || row.RoundBefore == 0 {
		return nil, err
	}
	return row.RoundBefore.Proto(), nil
}

// Restore undoes the deletion by a sanction of some users. If the other sanction has deleted
// their messages since, they stay hidden until it is undone too. The sanction must be in
// force, so that it made the latest deletion of its kind and no message has the generation
// that it made. The transaction must hold the channel's lock, and keep the users from being
// deleted.
func Restore(ctx context.Context, tx *ent.Tx, channelID uid.ID, chatters []uid.ID, by Sanction, now instant.Instant) error {
	if len(chatters) == 0 {
		return nil
	}
	in := "user_id IN (" + store.Placeholders(len(chatters)) + ")"
	_, err := tx.ExecContext(ctx, `UPDATE message_generations
		SET restorable = earlier, restorable_until = earlier_until, restorable_raised_at = earlier_raised_at,
			earlier = NULL, earlier_until = NULL, earlier_raised_at = NULL
		WHERE channel_id = ? AND earlier_until > ? AND restorable_by_mute <> ? AND `+in,
		append([]any{channelID, now, by}, store.Args(chatters)...)...)
	if err == nil {
		// A database of the MySQL family assigns from left to right.
		_, err = tx.ExecContext(ctx, `UPDATE message_generations
			SET restored_from = COALESCE(restored_from, generation), generation = restorable, raised_at = restorable_raised_at, purge_at = ?,
				restorable = earlier, restorable_until = earlier_until, restorable_raised_at = earlier_raised_at,
				restorable_by_mute = NOT restorable_by_mute, earlier = NULL, earlier_until = NULL, earlier_raised_at = NULL
			WHERE channel_id = ? AND restorable_until > ? AND restorable_by_mute = ? AND `+in,
			append([]any{now.Add(lastLook), channelID, now, by}, store.Args(chatters)...)...)
	}
	if err != nil {
		return fmt.Errorf("restore messages: %w", err)
	}
	return nil
}
