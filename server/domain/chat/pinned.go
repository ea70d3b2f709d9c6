package chat

import (
	"context"
	"fmt"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/message"
	"github.com/moderato-live/moderato/ent/pinnedmessage"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// GetPinnedMessage returns the pinned message of a channel.
func (s *PublicService) GetPinnedMessage(ctx context.Context, req *moderatov1.GetPinnedMessageRequest) (*moderatov1.GetPinnedMessageResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := listing.CheckChannel(ctx, s.Store, channelID); err != nil {
		return nil, err
	}
	m, err := readVisible(ctx, s.Store.Read, channelID, "(SELECT p.message_id FROM pinned_messages p WHERE p.channel_id = ?)", channelID)
	if err != nil {
		return nil, fmt.Errorf("read the pinned message: %w", s.Store.Classify(err))
	}
	shown, err := s.publicMessage(ctx, m)
	return &moderatov1.GetPinnedMessageResponse{ChannelId: channelID.String(), Message: shown}, err
}

// publicMessage returns a message as clients read it; nil for the zero Message, and if the
// sender was deleted.
func (s *PublicService) publicMessage(ctx context.Context, m Message) (*moderatov1.ChatMessage, error) {
	if m.ID.IsZero() {
		return nil, nil //nolint:nilnil // there is none
	}
	messages, err := s.publicMessages(ctx, m.ChannelID, []Message{m})
	if err != nil || len(messages) == 0 {
		return nil, err
	}
	return messages[0], nil
}

// PinMessage pins a message.
func (s *PublicService) PinMessage(ctx context.Context, req *moderatov1.PinMessageRequest) (*moderatov1.PinMessageResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	id := f.UUID("messageId", req.GetMessageId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	// What the event says about the sender is read before the channel is locked.
	m, err := findVisible(ctx, s.Store.Read, channelID, id)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	shown, err := s.publicMessage(ctx, m)
	if err != nil {
		return nil, err
	}
	err = change.Apply(ctx, s.Store, channelID, func(ctx context.Context, c *change.Change) error {
		return pin(ctx, c, m.UserID, id, shown)
	})
	return &moderatov1.PinMessageResponse{}, err
}

// pin pins a message, which is nil if it was not visible before the change.
func pin(ctx context.Context, c *change.Change, senderID, id uid.ID, shown *moderatov1.ChatMessage) error {
	// Retention does not lock the channel: it waits for this row, or this change waits for it.
	if _, err := c.Tx.Message.Query().Where(message.ID(id), store.LockForUpdate).Exist(ctx); err != nil {
		return err
	}
	present, err := findVisible(ctx, c.Tx, c.ChannelID, id)
	switch {
	case err != nil:
		return err
	case shown == nil || present.ID.IsZero():
		return apierr.New(moderatov1.Reason_REASON_MESSAGE_NOT_FOUND)
	}
	isPinned, err := c.Tx.PinnedMessage.Query().Where(pinnedmessage.ID(c.ChannelID), pinnedmessage.MessageID(id)).Exist(ctx)
	if err != nil || isPinned {
		return err
	}
	_, err = c.Tx.ExecContext(ctx, "INSERT INTO pinned_messages (channel_id, message_id, user_id) VALUES (?, ?, ?)"+
		c.Store.Upsert("channel_id")+"message_id = ?, user_id = ?", c.ChannelID, id, senderID, id, senderID)
	if err != nil {
		return fmt.Errorf("pin message: %w", err)
	}
	emitPin(c, senderID, shown)
	return nil
}

// UnpinMessage removes the pin of a channel.
func (s *PublicService) UnpinMessage(ctx context.Context, req *moderatov1.UnpinMessageRequest) (*moderatov1.UnpinMessageResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	err := change.Apply(ctx, s.Store, channelID, func(ctx context.Context, c *change.Change) error {
		removed, err := c.Tx.PinnedMessage.Delete().Where(pinnedmessage.ID(channelID)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("unpin message: %w", err)
		}
		if removed == 0 {
			return apierr.New(moderatov1.Reason_REASON_MESSAGE_NOT_FOUND)
		}
		emitPin(c, uid.ID{}, nil)
		return nil
	})
	return &moderatov1.UnpinMessageResponse{}, err
}

// emitPin emits the event of a message that is pinned; nil if the pin was removed.
func emitPin(c *change.Change, senderID uid.ID, shown *moderatov1.ChatMessage) {
	c.Emit("channel.chat.pin", senderID, &moderatov1.ChatPinEvent{
		ChannelId:   c.ChannelID.String(),
		ModeratorId: c.ActorID.String(),
		ClientId:    c.ClientID,
		Message:     shown,
	})
}

// removeRows removes messages of a channel, and the pin of one of them.
func removeRows(ctx context.Context, tx *ent.Tx, channelID uid.ID, ids []uid.ID) (int, error) {
	removed, err := tx.Message.Delete().Where(message.IDIn(ids...)).Exec(ctx)
	if err == nil {
		_, err = tx.PinnedMessage.Delete().Where(pinnedmessage.ID(channelID), pinnedmessage.MessageIDIn(ids...)).Exec(ctx)
	}
	return removed, err
}
