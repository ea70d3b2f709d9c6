package chat

import (
	"context"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/store"
)

// PostCheck returns an error if a sender, whose standing was just read, may not post a message.
// It may ban the sender, in a transaction in which it calls Admit.
type PostCheck func(ctx context.Context, st *Standing, m Message) error

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

// CheckReply returns the check that refuses replies, except to visible messages of the channel.
func CheckReply(s *store.Store) PostCheck {
	return func(ctx context.Context, _ *Standing, m Message) error {
		if m.ReplyTo == nil {
			return nil
		}
		repliedTo, err := findVisible(ctx, s.Read, m.ChannelID, *m.ReplyTo)
		if err == nil && repliedTo.ID.IsZero() {
			return apierr.Invalid(apierr.Violation{Field: "replyToMessageId", Description: "must be a message of the channel that is not deleted"})
		}
		return s.Classify(err)
	}
}
