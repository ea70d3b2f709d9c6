// Package chat serves both ChatServices: that of the chat servers, and the public one. It
// stores messages, and is the only place that knows which are deleted. A message carries
// the sum of two generations, that of its sender in the channel and that of the channel,
// as they were when the sender's standing was read. A ban or mute raises the sender's
// generation to a new number, and clearing the chat the channel's. Either immediately hides
// all earlier messages, however many there are, including a message that is being posted
// at that moment. A message that is hidden stays hidden, unless what hid it is undone: a batch
// of bans, or the bans and mutes of a moderator. The Purger removes the rows later.
package chat

import (
	"context"
	"fmt"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
)

// Standing holds the bans, mutes and roles of a user in a channel, at one instant.
type Standing struct {
	// HasChannel and HasUser report whether the channel and the user exist. The other
	// fields are meaningful only if both do.
	HasChannel, HasUser bool
	// BannedAt is nil when the user is not banned.
	BannedAt *instant.Instant
	// BanExpiresAt is when the ban ends; nil if it lasts until it is removed.
	BanExpiresAt *instant.Instant
	// MuteExpiresAt is nil when no mute is active.
	MuteExpiresAt *instant.Instant
	// IsModerator, IsVIP and IsOG are the user's roles.
	IsModerator, IsVIP, IsOG bool
	// IsSubscriber, FollowedAt and the names are set by ReadSender and ReadSenders only.
	// FollowedAt is nil when the user does not follow the channel.
	IsSubscriber                     bool
	FollowedAt                       *instant.Instant
	Username, DisplayName, AvatarURL string
	// Now is the instant of the Standing, by the database's clock.
	Now instant.Instant

	// AccountCreatedAt, IsNewcomer, Stored and Settings are set by ReadSender only.
	// AccountCreatedAt is nil when it is not known.
	AccountCreatedAt *instant.Instant
	// IsNewcomer reports whether the user has not posted in the channel in chatterTime.
	IsNewcomer bool
	// Stored are the settings of the channel's chat, and Settings those at the instant of the
	// Standing; nil if they never changed.
	Stored   StoredSettings
	Settings *Settings
	// Flagged is what rules of the channel found in the message that is checked, if they only
	// flag it; nil otherwise.
	Flagged *Flagged

	generation int64
	// confirms decide in the transaction of a post whether it is stored.
	confirms []Confirm
	// posted are told of the message once it is stored.
	posted []func(Message)
	// isChatter is set by ReadSender only: whether the user posted today already.
	isChatter bool
}

// CanPost reports whether the user may post.
func (s *Standing) CanPost() bool { return s.BannedAt == nil && s.MuteExpiresAt == nil }

// standingQuery holds the parameters of standing.
type standingQuery struct{ channelID, userID uid.ID }

// generation returns the SQL expression for the sum of the generations of a user in a
// channel and of the channel. A message is visible if it has this generation.
func generation(channel, user string) string {
	return `COALESCE((SELECT mg.generation FROM message_generations mg WHERE mg.channel_id = ` + channel + ` AND mg.user_id = ` + user + `), 0)
		+ COALESCE((SELECT cg.generation FROM chat_generations cg WHERE cg.channel_id = ` + channel + `), 0)`
}

// standingColumns are the columns of standing, with their arguments.
func standingColumns(d *store.Dialect, q standingQuery) (string, []any) {
	channel, user := any(q.channelID), any(q.userID) // each conversion allocates
	return d.Clock.SQL() + `,
			EXISTS (SELECT 1 FROM channels WHERE id = ?), EXISTS (SELECT 1 FROM users WHERE id = ? AND ` + users.Exists + `),
			(SELECT banned_at FROM bans WHERE channel_id = ? AND user_id = ? AND ` + authz.InForce(d.Clock, "bans") + `),
			(SELECT expires_at FROM bans WHERE channel_id = ? AND user_id = ?),
			(SELECT expires_at FROM mutes WHERE channel_id = ? AND user_id = ?),
			` + generation("?", "?") + `,
			` + roleColumns("?"),
		[]any{channel, user, channel, user, channel, user, channel, user, channel, user, channel, channel, user, channel, user, channel, user}
}

// standing selects a user's standing.
var standing = store.Declare(func(d *store.Dialect, q standingQuery) (string, []any) {
	columns, args := standingColumns(d, q)
	return "SELECT " + columns, args
})

// ReadStanding reads a user's standing. It uses one statement, so that all fields are
// of one instant.
func ReadStanding(ctx context.Context, s *store.Store, channelID, userID uid.ID) (*Standing, error) {
	var st Standing
	err := standing.One(ctx, s, standingQuery{channelID, userID}, func(r *store.Row) { st = readStanding(s, r) })
	if err != nil {
		return nil, fmt.Errorf("read standing: %w", s.Classify(err))
	}
	return &st, nil
}

// readStanding reads the standingColumns of a row.
func readStanding(s *store.Store, r *store.Row) (st Standing) {
	st.Now, st.HasChannel, st.HasUser = s.Clock.At(r.Int()), r.Bool(), r.Bool()
	st.BannedAt, st.BanExpiresAt = r.OptionalInstant(), r.OptionalInstant()
	if expiresAt := r.OptionalInstant(); expiresAt != nil && st.Now < *expiresAt {
		st.MuteExpiresAt = expiresAt
	}
	st.generation = r.Int()
	st.readRoles(r)
	return st
}

// Flagged is what rules found in a message that they flag.
type Flagged struct {
	Rules []uid.ID
	Spans []*moderatov1.Span
}

// Message is a chat message.
type Message struct {
	ID, ChannelID, UserID uid.ID
	Text                  string
	SentAt                instant.Instant
	// ReplyTo is the message that it replies to, which may be deleted since; nil if it is no
	// reply.
	ReplyTo *uid.ID
	// IsBot reports whether a program posted the message.
	IsBot bool
	// Emotes are the parts of the text that stand for emotes, in their order, as the chat server
	// named them. They are not stored.
	Emotes []EmoteRange
}

// Import stores a message from elsewhere as it was sent. A message from before the latest
// deletion of its sender's messages, or of all messages of the channel, is deleted by
// definition. Import skips it, so that an import restores no deleted message.
func Import(ctx context.Context, tx *ent.Tx, m Message) error {
	var current int64
	var raisedAt instant.Instant
	err := store.QueryEach(ctx, tx, `
		SELECT generation, raised_at FROM message_generations WHERE channel_id = ? AND user_id = ?
		UNION ALL SELECT generation, raised_at FROM chat_generations WHERE channel_id = ?`,
		[]any{m.ChannelID, m.UserID, m.ChannelID}, func(scan func(...any) error) error {
			var n int64
			var at instant.Instant
			err := scan(&n, &at)
			current += n
			raisedAt = max(raisedAt, at)
			return err
		})
	if err != nil {
		return fmt.Errorf("import message: %w", err)
	}
	if m.SentAt <= raisedAt {
		return nil
	}
	return insert(ctx, tx, m, current)
}
