// Package chat serves ChatService, which the chat servers call. It stores messages, and is the only place that knows which are
// deleted. A message carries the generation that its sender had in the channel when the
// sender's standing was read. A ban or mute increments the generation. This immediately
// hides all earlier messages, however many there are, including a message that is being
// posted at that moment. The Purger removes the rows later.
package chat

import (
	"context"
	"errors"
	"fmt"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/messagegeneration"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
)

// Clear deletes every message that a user posted in a channel until now. The transaction
// must hold the channel's lock.
func Clear(ctx context.Context, tx *ent.Tx, channelID, userID uid.ID, now instant.Instant) error {
	raised, err := tx.MessageGeneration.Update().
		Where(messagegeneration.ChannelID(channelID), messagegeneration.UserID(userID)).
		AddGeneration(1).SetRaisedAt(now).SetPurgeAt(now).
		Save(ctx)
	if err == nil && raised == 0 {
		err = tx.MessageGeneration.Create().SetChannelID(channelID).SetUserID(userID).
			SetGeneration(1).SetRaisedAt(now).SetPurgeAt(now).
			Exec(ctx)
	}
	if err != nil {
		return fmt.Errorf("clear messages: %w", err)
	}
	return nil
}

// Standing holds the bans, mutes and roles of a user in a channel, at one instant.
type Standing struct {
	// HasChannel and HasUser report whether the channel and the user exist. The other
	// fields are meaningful only if both do.
	HasChannel, HasUser bool
	// BannedAt is nil when the user is not banned.
	BannedAt *instant.Instant
	// MuteExpiresAt is nil when no mute is active.
	MuteExpiresAt *instant.Instant
	// IsModerator, IsVIP and IsOG are the user's roles.
	IsModerator, IsVIP, IsOG bool
	// Now is the instant of the Standing, by the database's clock.
	Now instant.Instant

	generation int64
}

// CanPost reports whether the user may post.
func (s *Standing) CanPost() bool { return s.BannedAt == nil && s.MuteExpiresAt == nil }

// standingQuery holds the parameters of standing.
type standingQuery struct{ channelID, userID uid.ID }

// standing selects a user's standing.
var standing = store.Declare("standing", func(d *store.Dialect, q standingQuery) (string, []any) {
	channel, user := any(q.channelID), any(q.userID) // each conversion allocates
	return `
		SELECT ` + d.Clock.SQL() + `,
			EXISTS (SELECT 1 FROM channels WHERE id = ?), EXISTS (SELECT 1 FROM users WHERE id = ? AND ` + users.Exists + `),
			(SELECT banned_at FROM bans WHERE channel_id = ? AND user_id = ?),
			(SELECT expires_at FROM mutes WHERE channel_id = ? AND user_id = ?),
			COALESCE((SELECT generation FROM message_generations WHERE channel_id = ? AND user_id = ?), 0),
			EXISTS (SELECT 1 FROM roles WHERE channel_id = ? AND user_id = ? AND role = 'moderator'),
			EXISTS (SELECT 1 FROM roles WHERE channel_id = ? AND user_id = ? AND role = 'vip'),
			EXISTS (SELECT 1 FROM roles WHERE channel_id = ? AND user_id = ? AND role = 'og')`,
		[]any{channel, user, channel, user, channel, user, channel, user, channel, user, channel, user, channel, user}
}, standingQuery{})

// ReadStanding reads a user's standing. It uses one statement, so that all fields are
// of one instant.
func ReadStanding(ctx context.Context, s *store.Store, channelID, userID uid.ID) (*Standing, error) {
	var st Standing
	var muteExpiresAt *instant.Instant
	err := standing.One(ctx, s, standingQuery{channelID, userID}, func(r *store.Row) {
		st.Now, st.HasChannel, st.HasUser = s.Clock.At(r.Int()), r.Bool(), r.Bool()
		st.BannedAt, muteExpiresAt, st.generation = r.OptionalInstant(), r.OptionalInstant(), r.Int()
		st.IsModerator, st.IsVIP, st.IsOG = r.Bool(), r.Bool(), r.Bool()
	})
	if err != nil {
		return nil, fmt.Errorf("read standing: %w", s.Classify(err))
	}
	if muteExpiresAt != nil && st.Now < *muteExpiresAt {
		st.MuteExpiresAt = muteExpiresAt
	}
	return &st, nil
}

// Message is a chat message.
type Message struct {
	ID, ChannelID, UserID uid.ID
	Text                  string
	SentAt                instant.Instant
}

// ErrIDTaken is returned for a message id that belongs to another sender or channel.
var ErrIDTaken = errors.New("the message id belongs to another message")

// Post stores a message of a sender whose standing was just read. No lock is needed
// between the read and Post: if the sender was banned or muted since, the message has an
// old generation and is never shown. If the sender's message with this id already exists
// in the channel, Post returns it unchanged. admit runs in the transaction, and its
// error rejects the message.
func Post(ctx context.Context, s *store.Store, st *Standing, m Message, admit func(context.Context, *ent.Tx) error) (Message, error) {
	stored, err := post(ctx, s, st, m, admit)
	if s.IsDuplicate(err) { // stored concurrently since the look-up
		stored, err = post(ctx, s, st, m, admit)
	}
	return stored, err
}

func post(ctx context.Context, s *store.Store, st *Standing, m Message, admit func(context.Context, *ent.Tx) error) (Message, error) {
	var stored Message
	err := s.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		if err := admit(ctx, tx); err != nil {
			return err
		}
		stored = m
		earlier, err := tx.Message.Get(ctx, m.ID)
		if err == nil {
			if earlier.ChannelID != m.ChannelID || earlier.UserID != m.UserID {
				return ErrIDTaken
			}
			stored.Text, stored.SentAt = earlier.Text, earlier.SentAt
			return nil
		}
		if !ent.IsNotFound(err) {
			return err
		}
		return tx.Message.Create().SetID(m.ID).SetChannelID(m.ChannelID).SetUserID(m.UserID).
			SetGeneration(st.generation).SetText(m.Text).SetSentAt(m.SentAt).
			Exec(ctx)
	})
	if err != nil {
		return Message{}, fmt.Errorf("post message: %w", err)
	}
	return stored, nil
}

// Import stores a message from elsewhere as it was sent. A message from before the
// latest deletion of its sender's messages is deleted by definition. Import skips it, so
// that an import restores no deleted message.
func Import(ctx context.Context, tx *ent.Tx, m Message) error {
	generation := int64(0)
	row, err := tx.MessageGeneration.Query().
		Where(messagegeneration.ChannelID(m.ChannelID), messagegeneration.UserID(m.UserID)).
		Only(ctx)
	switch {
	case err == nil && m.SentAt <= row.RaisedAt:
		return nil
	case err == nil:
		generation = row.Generation
	case !ent.IsNotFound(err):
		return fmt.Errorf("import message: %w", err)
	}
	return tx.Message.Create().SetID(m.ID).SetChannelID(m.ChannelID).SetUserID(m.UserID).
		SetGeneration(generation).SetText(m.Text).SetSentAt(m.SentAt).
		Exec(ctx)
}
