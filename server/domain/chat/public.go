package chat

import (
	"context"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// PublicService serves the public ChatService.
type PublicService struct {
	moderatov1.UnsafeChatServiceServer

	// Store is the database.
	Store *store.Store
	// Live delivers new messages to listeners.
	Live *live.Hub
	// Checks may refuse messages, in this order.
	Checks []PostCheck
	// CancelHeld cancels the messages that are held, in a change that clears the chat.
	CancelHeld func(context.Context, *change.Change) error
}

// PostMessage posts a message as the caller's user, or as a user for whom the caller may
// post.
func (s *PublicService) PostMessage(ctx context.Context, req *moderatov1.PostMessageRequest) (*moderatov1.PostMessageResponse, error) {
	caller := authn.FromContext(ctx)
	if caller.Kind == authn.App {
		// channel.moderate suffices for a user's own messages only.
		if err := authz.CheckScope(caller, authn.UsersBot); err != nil {
			return nil, err
		}
	}
	f := validate.Of(req)
	m := Message{
		ChannelID: f.UUID("channelId", req.GetChannelId()),
		UserID:    senderOf(ctx, f, req.GetSenderId()),
		Text:      f.Message("message", req.GetMessage()),
		ID:        f.OptionalUUID("messageId", req.GetMessageId()),
		ReplyTo:   replyTo(f, req.GetReplyToMessageId()),
		IsBot:     req.GetIsBot() || caller.Kind == authn.App,
	}
	if m.IsBot && caller.Kind == authn.User {
		f.Add("isBot", "must be false with a user token")
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := authz.AuthorizeSelf(ctx, s.Store, m.UserID); err != nil {
		return nil, err
	}
	var stored Message
	respond := idempotency.Response(ctx, func() *moderatov1.PostMessageResponse {
		return &moderatov1.PostMessageResponse{
			MessageId: stored.ID.String(), ChannelId: stored.ChannelID.String(), SenderId: stored.UserID.String(),
			Message: stored.Text, CreatedAt: stored.SentAt.Proto(),
		}
	})
	if err := postLive(ctx, s.Store, s.Live, s.Checks, m, &stored); err != nil {
		return nil, err
	}
	return respond(), nil
}

// senderOf reads the sender of a message. A caller that acts for a user may omit it.
func senderOf(ctx context.Context, f *validate.Fields, senderID string) uid.ID {
	caller := authn.FromContext(ctx)
	if senderID == "" && caller.ActsAsUser() {
		return caller.UserID
	}
	return f.UUID("senderId", senderID)
}

// DeleteMessage deletes a message.
func (s *PublicService) DeleteMessage(ctx context.Context, req *moderatov1.DeleteMessageRequest) (*moderatov1.DeleteMessageResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	id := f.UUID("messageId", req.GetMessageId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	ctx, asSender, err := s.mayDelete(ctx, channelID, id)
	if err != nil {
		return nil, err
	}
	err = change.Apply(ctx, s.Store, channelID, func(ctx context.Context, c *change.Change) error {
		m, err := findVisible(ctx, c.Tx, channelID, id)
		if err != nil {
			return err
		}
		if m.ID.IsZero() || (asSender && m.UserID != c.ActorID) {
			return apierr.New(moderatov1.Reason_REASON_MESSAGE_NOT_FOUND)
		}
		return deleteVisible(ctx, c, m)
	})
	return &moderatov1.DeleteMessageResponse{}, err
}

// mayDelete returns the context in which the caller may delete a message, and reports
// whether the caller does so as its sender. The sender needs the scope users.bot and no
// right in the channel. Any other caller must moderate the channel, which the change
// checks.
func (s *PublicService) mayDelete(ctx context.Context, channelID, id uid.ID) (_ context.Context, asSender bool, err error) {
	caller := authn.FromContext(ctx)
	if caller.ActsAsUser() && caller.HasScope(authn.UsersBot) {
		m, err := findVisible(ctx, s.Store.Read, channelID, id)
		if err != nil {
			return nil, false, s.Store.Classify(err)
		}
		switch {
		case m.UserID == caller.UserID:
			return authz.WithoutRelation(ctx), true, nil
		case m.ID.IsZero() && !caller.HasScope(authn.ChannelModerate):
			// Listeners of the channel know its messages, so this reveals nothing.
			return nil, false, apierr.New(moderatov1.Reason_REASON_MESSAGE_NOT_FOUND)
		}
	}
	return ctx, false, authz.CheckScope(caller, authn.ChannelModerate)
}

// ClearChat deletes all messages of a channel.
func (s *PublicService) ClearChat(ctx context.Context, req *moderatov1.ClearChatRequest) (*moderatov1.ClearChatResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	err := change.Apply(ctx, s.Store, channelID, func(ctx context.Context, c *change.Change) error {
		c.Emit("channel.chat.clear", uid.ID{}, &moderatov1.ChatClearEvent{
			ChannelId:   channelID.String(),
			ModeratorId: c.ActorID.String(),
			ClientId:    c.ClientID,
			ClearedAt:   c.Now.Proto(),
		})
		if err := s.CancelHeld(ctx, c); err != nil {
			return err
		}
		return clearChannel(ctx, c.Tx, s.Store.Dialect, channelID, c.Now)
	})
	return &moderatov1.ClearChatResponse{}, err
}
