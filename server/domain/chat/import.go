package chat

import (
	"context"
	"errors"

	"github.com/moderato-live/moderato/ent/chatter"
	"github.com/moderato-live/moderato/ent/message"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

func putMessage(ctx context.Context, tx feed.Tx, r *platformv1.MessageRecord) error {
	f := validate.Of(r)
	m := Message{
		ID:        f.UUID("id", r.GetId()),
		ChannelID: f.UUID("channelId", r.GetChannelId()),
		UserID:    f.UUID("userId", r.GetUserId()),
		Text:      f.Message("text", r.GetText()),
		ReplyTo:   replyTo(f, r.GetReplyToMessageId()),
		IsBot:     r.GetIsBot(),
	}
	m.SentAt, _ = f.RequiredTime("sentAt", r.GetSentAt())
	if err := f.Err(); err != nil {
		return err
	}
	if err := errors.Join(tx.RequireChannel(ctx, m.ChannelID), tx.RequireUser(ctx, m.UserID)); err != nil {
		return err
	}
	exists, err := tx.Message.Query().Where(message.ID(m.ID)).Exist(ctx)
	if err != nil || exists {
		return err
	}
	if err := importChatter(ctx, tx, m); err != nil {
		return err
	}
	return Import(ctx, tx.Tx, m)
}

// importChatter records that the sender of a recent message posted on its day, unless the
// sender posted later.
func importChatter(ctx context.Context, tx feed.Tx, m Message) error {
	today := dayOf(m.SentAt)
	if today < tx.Now.Add(-chatterTime) {
		return nil
	}
	isKnown, err := tx.Chatter.Query().Where(chatter.ChannelID(m.ChannelID), chatter.UserID(m.UserID), chatter.LastDayGTE(today)).Exist(ctx)
	if err != nil || isKnown {
		return err
	}
	chatted, args := hasChatted(tx.Store.Dialect, m.ChannelID, today, m.UserID)
	_, err = tx.ExecContext(ctx, chatted, args...)
	return err
}
