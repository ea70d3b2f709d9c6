package chat

import (
	"context"
	"errors"

	"github.com/moderato-live/moderato/ent/message"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/feed"
	"github.com/moderato-live/moderato/server/validate"
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
	return Import(ctx, tx.Tx, m)
}
