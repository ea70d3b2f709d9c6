package chat

import (
	"context"
	"errors"
	"fmt"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// publicFor is how long anyone sees a message of a channel that is offline.
const publicFor = 8 * time.Hour

// ListMessages returns a page of a channel's messages.
func (s *PublicService) ListMessages(ctx context.Context, req *moderatov1.ListMessagesRequest) (*moderatov1.ListMessagesResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	userID := f.OptionalUUID("userId", req.GetUserId())
	limit := f.Limit("limit", req.Limit)
	if err := f.Err(); err != nil {
		return nil, err
	}
	list := "ChatMessages/" + channelID.String() + "/" + userID.String()
	var after *Place
	if err := paging.Read(ctx, s.Store, list, req.GetCursor(), &after); err != nil {
		return nil, err
	}
	page, next, err := s.readPage(ctx, channelID, userID, after, limit)
	if err != nil {
		return nil, err
	}
	result := &moderatov1.ListMessagesResponse{ChannelId: channelID.String(), Pagination: &moderatov1.Pagination{}}
	if result.Messages, err = s.publicMessages(ctx, channelID, page); err != nil {
		return nil, err
	}
	if next != nil {
		result.Pagination.Cursor, err = s.Store.Cursors.Seal(ctx, list, next)
	}
	return result, err
}

// readPage reads a page of the messages that the caller may read, of one user unless userID is
// zero.
func (s *PublicService) readPage(ctx context.Context, channelID, userID uid.ID, after *Place, limit int) ([]Message, *Place, error) {
	refused, err := s.refuseHistory(ctx, channelID)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case refused == nil:
		if err := listing.CheckChannel(ctx, s.Store, channelID); err != nil {
			return nil, nil, err
		}
		if !userID.IsZero() {
			return ListOf(ctx, s.Store, channelID, userID, after, limit)
		}
		return List(ctx, s.Store, channelID, always, after, limit)
	case !userID.IsZero():
		return nil, nil, refused
	}
	since, err := readPublicSince(ctx, s.Store, channelID)
	if err != nil {
		return nil, nil, err
	}
	return List(ctx, s.Store, channelID, since, after, limit)
}

// refuseHistory returns as refused why the caller may not read all messages of a channel; nil
// if the caller may.
func (s *PublicService) refuseHistory(ctx context.Context, channelID uid.ID) (refused, err error) {
	if refused := authz.CheckScope(authn.FromContext(ctx), authn.ChannelModerate); refused != nil {
		return refused, nil
	}
	err = authz.AuthorizeModerator(ctx, s.Store, channelID)
	if errors.Is(err, apierr.New(moderatov1.Reason_REASON_NOT_CHANNEL_MODERATOR)) {
		return err, nil
	}
	return nil, err
}

// publicSince selects when the oldest message of a channel that anyone sees was sent: since
// the start of the live stream or, while the channel is offline, for publicFor.
var publicSince = store.Declare(func(d *store.Dialect, channelID uid.ID) (string, []any) {
	return fmt.Sprintf("SELECT COALESCE(live_started_at, %s - %d) FROM channels WHERE id = ?", d.Clock.Present(), publicFor.Milliseconds()),
		[]any{channelID}
})

func readPublicSince(ctx context.Context, s *store.Store, channelID uid.ID) (since instant.Instant, err error) {
	err = publicSince.One(ctx, s, channelID, func(r *store.Row) { since = r.Instant() })
	if errors.Is(err, store.ErrNoRows) {
		return 0, apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)
	}
	return since, s.Classify(err)
}

// publicMessages returns messages of a channel as clients read them, without those whose
// sender was deleted meanwhile.
func (s *PublicService) publicMessages(ctx context.Context, channelID uid.ID, page []Message) ([]*moderatov1.ChatMessage, error) {
	from := make([]uid.ID, len(page))
	for i, m := range page {
		from[i] = m.UserID
	}
	senders, err := ReadSenders(ctx, s.Store, channelID, from)
	if err != nil {
		return nil, err
	}
	emotes, err := readEmotes(ctx, s.Store, channelID, page...)
	if err != nil {
		return nil, err
	}
	result := make([]*moderatov1.ChatMessage, 0, len(page))
	for _, m := range page {
		if st := senders[m.UserID]; st != nil {
			result = append(result, &moderatov1.ChatMessage{
				Id: m.ID.String(), ChannelId: channelID.String(), Sender: senderProto(m, st),
				Message: m.Text, ReplyToMessageId: uid.Text(m.ReplyTo), CreatedAt: m.SentAt.Proto(), Emotes: emotes.of(m.Text),
			})
		}
	}
	return result, nil
}
