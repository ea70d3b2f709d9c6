package chat

import (
	"context"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/buckets"
)

// Service serves the ChatService of the platform's backends.
type Service struct {
	// Store is the database.
	Store *store.Store
	// Live delivers new messages to listeners.
	Live *live.Hub
	// Checks may refuse messages, in this order.
	Checks []PostCheck
}

// PostMessage stores a message of a user who is allowed to post.
func (s *Service) PostMessage(ctx context.Context, req *platformv1.PostMessageRequest) (*platformv1.PostMessageResponse, error) {
	f := validate.Of(req)
	m := Message{
		ChannelID: f.UUID("channelId", req.GetChannelId()),
		UserID:    f.UUID("userId", req.GetUserId()),
		Text:      f.Message("text", req.GetText()),
		ID:        f.OptionalUUID("messageId", req.GetMessageId()),
		ReplyTo:   replyTo(f, req.GetReplyToMessageId()),
		IsBot:     req.GetIsBot(),
	}
	m.Emotes = parseRanges(f, m.Text, req.GetEmotes())
	if err := f.Err(); err != nil {
		return nil, err
	}
	var stored Message
	respond := idempotency.Response(ctx, func() *platformv1.PostMessageResponse {
		return &platformv1.PostMessageResponse{Message: messageProto(stored)}
	})
	if err := postLive(ctx, s.Store, s.Live, s.Checks, m, &stored); err != nil {
		return nil, err
	}
	return respond(), nil
}

// replyTo reads the message to which another one replies.
func replyTo(f *validate.Fields, id string) *uid.ID {
	if read := f.OptionalUUID("replyToMessageId", id); !read.IsZero() {
		return &read
	}
	return nil
}

// postLive stores a message of a user who is allowed to post, and passes it on to the
// listeners of the channel if it is new. See Post.
func postLive(ctx context.Context, s *store.Store, to *live.Hub, checks []PostCheck, m Message, stored *Message) error {
	st, err := ReadSender(ctx, s, m.ChannelID, m.UserID)
	if err == nil {
		err = st.exists()
	}
	if err != nil {
		return err
	}
	for _, check := range checks {
		if err := check(ctx, st, m); err != nil {
			return err
		}
	}
	emotes, err := readEmotes(ctx, s, m.ChannelID, m)
	if err != nil {
		return err
	}
	if m.ID.IsZero() {
		m.ID = uid.New()
	}
	m.SentAt = st.Now
	isNew, err := Post(ctx, s, st, m, stored)
	if err == nil && isNew {
		s.Buckets.Add(stored.ChannelID, stored.SentAt, st.counted())
		to.Post(live.Message{ID: stored.ID, ChannelID: stored.ChannelID, Event: messageEvent(*stored, st, emotes)})
		for _, told := range st.posted {
			told(*stored)
		}
	}
	return err
}

// counted returns what the metrics of the channel count of a new message of the sender.
func (s *Standing) counted() buckets.Counts {
	if s.IsNewcomer {
		return buckets.Counts{Messages: 1, FirstMessages: 1}
	}
	return buckets.Counts{Messages: 1}
}

// messageEvent returns the event of a new message.
func messageEvent(m Message, st *Standing, emotes emotes) *moderatov1.Event {
	id, channelID, at := m.ID.String(), m.ChannelID.String(), m.SentAt.Proto()
	return &moderatov1.Event{
		Metadata: &moderatov1.EventMetadata{
			MessageId: id, MessageType: "notification", SubscriptionType: live.Type, SubscriptionVersion: "1",
			MessageTimestamp: at, ChannelId: channelID,
		},
		Payload: &moderatov1.Event_ChatMessage{ChatMessage: &moderatov1.ChatMessageEvent{
			ChannelId: channelID, MessageId: id, Message: m.Text, CreatedAt: at,
			Sender: senderProto(m, st), ReplyToMessageId: uid.Text(m.ReplyTo),
			Emotes: emotes.of(m.Text),
		}},
	}
}

// standing returns the standing of a user in a channel. Both must exist.
func (s *Service) standing(ctx context.Context, channelID, userID uid.ID) (*Standing, error) {
	st, err := ReadStanding(ctx, s.Store, channelID, userID)
	if err != nil {
		return nil, err
	}
	return st, st.exists()
}

// exists returns an error unless the channel and the user exist.
func (s *Standing) exists() error {
	switch {
	case !s.HasChannel:
		return apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)
	case !s.HasUser:
		return apierr.New(moderatov1.Reason_REASON_USER_NOT_FOUND)
	}
	return nil
}

// ListMessages returns a page of a channel's messages.
func (s *Service) ListMessages(ctx context.Context, req *platformv1.ListMessagesRequest) (*platformv1.ListMessagesResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	limit := f.Limit("limit", req.Limit)
	if err := f.Err(); err != nil {
		return nil, err
	}
	list := "ListMessages/" + channelID.String()
	var after *Place
	if err := paging.Read(ctx, s.Store, list, req.GetCursor(), &after); err != nil {
		return nil, err
	}
	if err := listing.CheckChannel(ctx, s.Store, channelID); err != nil {
		return nil, err
	}
	page, next, err := List(ctx, s.Store, channelID, always, after, limit)
	if err != nil {
		return nil, err
	}
	result := &platformv1.ListMessagesResponse{}
	for _, m := range page {
		result.Messages = append(result.Messages, messageProto(m))
	}
	if next != nil {
		result.NextCursor, err = s.Store.Cursors.Seal(ctx, list, next)
	}
	return result, err
}

func messageProto(m Message) *platformv1.Message {
	result := &platformv1.Message{
		Id:        m.ID.String(),
		ChannelId: m.ChannelID.String(),
		UserId:    m.UserID.String(),
		Text:      m.Text,
		SentAt:    m.SentAt.Proto(),
		IsBot:     m.IsBot,
	}
	if m.ReplyTo != nil {
		result.ReplyToMessageId = m.ReplyTo.String()
	}
	return result
}

// GetStanding returns the standing of a user in a channel.
func (s *Service) GetStanding(ctx context.Context, req *platformv1.GetStandingRequest) (*platformv1.GetStandingResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	userID := f.UUID("userId", req.GetUserId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	st, err := s.standing(ctx, channelID, userID)
	if err != nil {
		return nil, err
	}
	result := &platformv1.GetStandingResponse{IsBanned: st.BannedAt != nil, CanPost: st.CanPost()}
	if st.BannedAt != nil {
		result.BannedAt = st.BannedAt.Proto()
	}
	if st.MuteExpiresAt != nil {
		result.MuteExpiresAt = st.MuteExpiresAt.Proto()
	}
	for _, held := range []struct {
		role platformv1.Role
		is   bool
	}{
		{platformv1.Role_ROLE_OWNER, userID == channelID},
		{platformv1.Role_ROLE_MODERATOR, st.IsModerator},
		{platformv1.Role_ROLE_VIP, st.IsVIP},
		{platformv1.Role_ROLE_OG, st.IsOG},
	} {
		if held.is {
			result.Roles = append(result.Roles, held.role)
		}
	}
	return result, nil
}
