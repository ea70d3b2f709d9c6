package chat

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/message"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/store"
)

// PostCheck returns an error if a sender, whose standing was just read, may not post a message.
// It may ban or mute the sender or store the message, in a transaction in which it calls Admit and
// idempotency.Refuse.
type PostCheck func(ctx context.Context, st *Standing, m Message) error

// Confirm returns an error if a message may not be stored, in the transaction that would store
// it. Until the transaction ends, no other message of the sender in the channel is stored.
type Confirm func(ctx context.Context, tx *ent.Tx, m Message) error

// Confirm adds a Confirm to those of the post whose sender was read. A check adds one if what it
// read may change before the message is stored.
func (s *Standing) Confirm(c Confirm) { s.confirms = append(s.confirms, c) }

func (s *Standing) confirm(ctx context.Context, tx *ent.Tx, m Message) error {
	for _, confirm := range s.confirms {
		if err := confirm(ctx, tx, m); err != nil {
			return err
		}
	}
	return nil
}

// OnPosted has the post whose sender was read call told with the message once it is stored, unless
// it was stored before.
func (s *Standing) OnPosted(told func(Message)) { s.posted = append(s.posted, told) }

// LatestOf returns when the latest stored message of a sender in a channel was posted, if it was
// after an instant. Messages that were deleted alone count while they are stored. Those that a
// ban, a mute or a clearing deleted do not.
func LatestOf(ctx context.Context, s *store.Store, q store.Queryer, st *Standing, channelID, userID uid.ID, after instant.Instant) (*instant.Instant, error) {
	ofGeneration := func(m string) string {
		return "(SELECT " + m + ".sent_at FROM messages " + m + s.ByIndex("message_user_id_channel_id_generation_sent_at_id") + " WHERE " + m + ".user_id = ? AND " +
			m + ".channel_id = ? AND " + m + ".generation = ? AND " + m + ".sent_at > ? ORDER BY " + m + ".sent_at DESC" + store.Limit(1) + ")"
	}
	var visible, deleted, refused *instant.Instant
	err := store.QueryEach(ctx, q, "SELECT "+ofGeneration("m")+", "+ofGeneration("d")+", "+ofGeneration("r"),
		[]any{userID, channelID, st.generation, after, userID, channelID, deletedByPerson, after, userID, channelID, deletedByRule, after},
		func(scan func(...any) error) error { return scan(&visible, &deleted, &refused) })
	var latest *instant.Instant
	for _, at := range []*instant.Instant{visible, deleted, refused} {
		if latest == nil || at != nil && *at > *latest {
			latest = at
		}
	}
	return latest, err
}

// IsStored reports whether the sender of a message has posted one with this id in the channel.
func IsStored(ctx context.Context, s *store.Store, m Message) (bool, error) {
	if m.ID.IsZero() {
		return false, nil
	}
	isStored, err := s.Read.Message.Query().Where(message.ID(m.ID), message.ChannelID(m.ChannelID), message.UserID(m.UserID)).Exist(ctx)
	return isStored, s.Classify(err)
}

// CheckSilenced refuses the messages of senders who are banned or muted.
func CheckSilenced(_ context.Context, st *Standing, _ Message) error {
	switch {
	case st.BannedAt != nil:
		return apierr.UserBanned(st.BanExpiresAt, st.Now)
	case st.MuteExpiresAt != nil:
		return apierr.MuteActive(moderatov1.Reason_REASON_USER_MUTED, *st.MuteExpiresAt, st.Now)
	}
	return nil
}

// CheckReply returns the check that refuses replies, except to visible messages of the channel. A
// message that is stored already is not posted again, so it is not refused.
func CheckReply(s *store.Store) PostCheck {
	return func(ctx context.Context, _ *Standing, m Message) error {
		if m.ReplyTo == nil {
			return nil
		}
		repliedTo, err := findVisible(ctx, s.Read, m.ChannelID, *m.ReplyTo)
		if err == nil && repliedTo.ID.IsZero() {
			if isStored, err := IsStored(ctx, s, m); err != nil || isStored {
				return err
			}
			return apierr.Invalid(apierr.Violation{Field: "replyToMessageId", Description: "must be a message of the channel that is not deleted"})
		}
		return s.Classify(err)
	}
}
