package chat

import (
	"context"
	"errors"
	"fmt"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/message"
	"github.com/moderato-live/moderato/ent/messagegeneration"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/store"
)

// The generations of messages that were deleted alone: by a person, or by a rule, which refused them.
// No sum of generations is negative.
const (
	deletedByPerson = -1
	deletedByRule   = -2
)

// isScheduled is the SQL condition that the purge of a channel is due because of a clearing:
// lastLook after it. Otherwise a server has claimed the purge (see channelPurge), or there is
// none.
var isScheduled = fmt.Sprintf("purge_at <= raised_at + %d", lastLook.Milliseconds())

// clearChannel deletes every message that was posted in a channel until now. The
// transaction must hold the channel's lock.
func clearChannel(ctx context.Context, tx *ent.Tx, d *store.Dialect, channelID uid.ID, now instant.Instant) error {
	due := now.Add(lastLook)
	// A purge that is scheduled stays so, or else a chat that is cleared again and again would
	// never be purged. A database of the MySQL family assigns from left to right.
	_, err := tx.ExecContext(ctx, "INSERT INTO chat_generations (channel_id, generation, raised_at, purge_at) VALUES (?, 1, ?, ?)"+
		d.Upsert("channel_id")+"purge_at = CASE WHEN "+isScheduled+" THEN purge_at ELSE ? END, generation = generation + 1, raised_at = ?",
		channelID, now, due, due, now)
	if err != nil {
		return fmt.Errorf("clear chat: %w", err)
	}
	return nil
}

// findVisible returns a message of a channel; the zero Message if there is no such message, or
// it is deleted.
func findVisible(ctx context.Context, q store.Queryer, channelID, id uid.ID) (Message, error) {
	return readVisible(ctx, q, channelID, "?", id)
}

// readVisible is findVisible for the id that an SQL expression with one argument returns.
func readVisible(ctx context.Context, q store.Queryer, channelID uid.ID, id string, arg any) (m Message, err error) {
	err = store.QueryEach(ctx, q, "SELECT m.id, m.channel_id, m.user_id, m.text, m.sent_at, m.reply_to_message_id, m.is_bot FROM messages m"+
		" WHERE m.id = "+id+" AND m.channel_id = ? AND m.generation = "+generation("m.channel_id", "m.user_id"),
		[]any{arg, channelID}, func(scan func(...any) error) error {
			return scan(&m.ID, &m.ChannelID, &m.UserID, &m.Text, &m.SentAt, &m.ReplyTo, &m.IsBot)
		})
	return m, err
}

// StoreDeleted stores a message of a user that a rule refuses, as one that was deleted alone. It is
// never shown, and a repeated post is refused. It reports false if the sender's message with
// this id is stored and was not refused. The transaction must hold the channel's lock.
func StoreDeleted(ctx context.Context, tx *ent.Tx, m Message) (isRefused bool, err error) {
	if isRefused, isStored, err := WasRefused(ctx, tx, m); err != nil || isStored {
		return isRefused, err
	}
	if err := purgeLater(ctx, tx, m.ChannelID, m.UserID, m.SentAt); err != nil {
		return false, err
	}
	if err := insert(ctx, tx, m, deletedByRule); err != nil {
		return false, fmt.Errorf("store a refused message: %w", err)
	}
	return true, nil
}

// ErrStored ends the transaction in which a message is refused or held that is stored already.
var ErrStored = errors.New("the message is stored")

// WasRefused reports, in the transaction of a refusal, whether a message is stored, and whether a
// rule deleted it. It returns an error if the id belongs to another sender or channel.
func WasRefused(ctx context.Context, tx *ent.Tx, m Message) (isRefused, isStored bool, err error) {
	row, err := tx.Message.Get(ctx, m.ID)
	switch {
	case ent.IsNotFound(err):
		return false, false, nil
	case err != nil:
		return false, false, err
	case row.ChannelID != m.ChannelID || row.UserID != m.UserID:
		return false, false, IDTaken()
	}
	return row.Generation == deletedByRule, true, nil
}

// DeleteIn deletes the message with an id in a change of its channel, unless it is deleted already.
func DeleteIn(ctx context.Context, c *change.Change, id uid.ID) error {
	m, err := findVisible(ctx, c.Tx, c.ChannelID, id)
	if err != nil || m.ID.IsZero() {
		return err
	}
	return deleteVisible(ctx, c, m)
}

// deleteVisible deletes a message that is visible, as the author of a change.
func deleteVisible(ctx context.Context, c *change.Change, m Message) error {
	if err := deleteOne(ctx, c.Tx, m.ChannelID, m.UserID, m.ID, c.Now); err != nil {
		return err
	}
	c.Emit("channel.chat.message_delete", m.UserID, &moderatov1.MessageDeleteEvent{
		ChannelId:    c.ChannelID.String(),
		ModeratorId:  c.ActorID.String(),
		ClientId:     c.ClientID,
		MessageId:    m.ID.String(),
		TargetUserId: m.UserID.String(),
		DeletedAt:    c.Now.Proto(),
	})
	return nil
}

// deleteOne deletes a message of a user. The row stays for a while, so that a repeated
// post of the message does not restore it. The transaction must hold the channel's lock.
func deleteOne(ctx context.Context, tx *ent.Tx, channelID, senderID, id uid.ID, now instant.Instant) error {
	err := purgeLater(ctx, tx, channelID, senderID, now)
	if err == nil {
		err = tx.Message.Update().Where(message.ID(id)).SetGeneration(deletedByPerson).Exec(ctx)
	}
	if err != nil {
		return fmt.Errorf("delete message: %w", err)
	}
	return nil
}

// purgeLater has the purger look for deleted messages of a user. Transactions that delete messages
// call it first: the row of the generation comes before those of messages, as in the purger, so that
// the two do not deadlock.
func purgeLater(ctx context.Context, tx *ent.Tx, channelID, senderID uid.ID, now instant.Instant) error {
	later := now.Add(lastLook)
	scheduled, err := tx.MessageGeneration.Update().
		Where(messagegeneration.ChannelID(channelID), messagegeneration.UserID(senderID)).
		SetPurgeAt(later).
		Save(ctx)
	if err == nil && scheduled == 0 {
		err = tx.MessageGeneration.Create().SetChannelID(channelID).SetUserID(senderID).
			SetGeneration(0).SetRaisedAt(0).SetPurgeAt(later).
			Exec(ctx)
	}
	if err != nil {
		return fmt.Errorf("schedule a purge: %w", err)
	}
	return nil
}
