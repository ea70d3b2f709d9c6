package activity

import (
	"context"

	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

// keyed is a call that is identified by its key.
type keyed struct {
	kind              string
	channelID, userID uid.ID
	key               string
	at                *timestamppb.Timestamp
	facts             map[string]any
	action            *structpb.Struct
}

// parseKeyed parses the fields that gifts and thanks have in common.
func parseKeyed(f *validate.Fields, kind string, req interface {
	GetChannelId() string
	GetUserId() string
	GetKey() string
	GetAction() *structpb.Struct
}, timeField string, at *timestamppb.Timestamp) keyed {
	f.Time(timeField, at)
	f.Struct("action", req.GetAction())
	return keyed{
		kind:      kind,
		channelID: f.UUID("channelId", req.GetChannelId()),
		userID:    f.UUID("userId", req.GetUserId()),
		key:       f.Text("key", req.GetKey()),
		at:        at,
		action:    req.GetAction(),
	}
}

// recordKeyed records an activity and calls emit to emit its event, unless the key is
// known. It assigns the activity to result in the transaction.
func (s *Service) recordKeyed(ctx context.Context, k keyed, result **platformv1.ActivityRecord, emit func(*change.Change, *ent.User, *timestamppb.Timestamp)) error {
	return change.ApplyTo(ctx, s.Store, k.channelID, users.Key{ID: k.userID}, func(ctx context.Context, c *change.Change, user *ent.User) error {
		tx := feed.InChange(c)
		row, err := FindRepeat(ctx, tx, k.channelID, "key", k.key, k.kind)
		if err == nil && row == nil {
			at := tx.OrNow(k.at)
			emit(c, user, at.Proto())
			row, err = Record(ctx, c, Occurrence{Kind: k.kind, Key: k.key, User: user, At: at, Facts: k.facts, Action: k.action})
		}
		if err == nil {
			*result, err = activityRecord(row)
		}
		return err
	})
}

// RecordGift records subscriptions that a user gave.
func (s *Service) RecordGift(ctx context.Context, req *platformv1.RecordGiftRequest) (*platformv1.RecordGiftResponse, error) {
	f := validate.Of(req)
	k := parseKeyed(f, gift, req, "giftedAt", req.GetGiftedAt())
	k.facts = map[string]any{"count": f.Number("count", req.GetCount())}
	if err := f.Err(); err != nil {
		return nil, err
	}
	result := &platformv1.RecordGiftResponse{}
	idempotency.Result(ctx, &result)
	err := s.recordKeyed(ctx, k, &result.Activity, func(c *change.Change, user *ent.User, at *timestamppb.Timestamp) {
		c.Emit("channel.subscription.gift", user.ID, &moderatov1.GiftEvent{
			ChannelId:       c.ChannelID.String(),
			ClientId:        c.ClientID,
			UserId:          user.ID.String(),
			UserDisplayName: user.DisplayName,
			UserSlug:        user.Slug,
			Key:             k.key,
			Count:           req.GetCount(),
			GiftedAt:        at,
			Sender:          users.Person(user),
			GiftCount:       req.GetCount(),
			CreatedAt:       at,
		})
	})
	return result, err
}

// RecordThanks records a user's thanks.
func (s *Service) RecordThanks(ctx context.Context, req *platformv1.RecordThanksRequest) (*platformv1.RecordThanksResponse, error) {
	f := validate.Of(req)
	k := parseKeyed(f, thanks, req, "thankedAt", req.GetThankedAt())
	message := f.Text("message", req.GetMessage())
	messageID := ""
	if id := f.OptionalUUID("messageId", req.GetMessageId()); !id.IsZero() {
		messageID = id.String()
	}
	k.facts = map[string]any{"amount": f.Number("amount", req.GetAmount()), "message": message}
	if err := f.Err(); err != nil {
		return nil, err
	}
	result := &platformv1.RecordThanksResponse{}
	idempotency.Result(ctx, &result)
	err := s.recordKeyed(ctx, k, &result.Activity, func(c *change.Change, user *ent.User, at *timestamppb.Timestamp) {
		c.Emit("channel.thanks", user.ID, &moderatov1.ThanksEvent{
			ChannelId:       c.ChannelID.String(),
			ClientId:        c.ClientID,
			UserId:          user.ID.String(),
			UserDisplayName: user.DisplayName,
			UserSlug:        user.Slug,
			Key:             k.key,
			Amount:          req.GetAmount(),
			Message:         message,
			ThankedAt:       at,
			Sender:          users.Person(user),
			ThanksId:        k.key,
			MessageId:       messageID,
			CreatedAt:       at,
		})
	})
	return result, err
}

// PutActivity creates or replaces an activity, without an event.
func (s *Service) PutActivity(ctx context.Context, req *platformv1.PutActivityRequest) (*platformv1.PutActivityResponse, error) {
	result := &platformv1.PutActivityResponse{}
	idempotency.Result(ctx, &result)
	err := feed.WriteTo(ctx, s.Store, req.GetActivity().GetChannelId(), func(ctx context.Context, tx feed.Tx) error {
		row, err := putActivity(ctx, tx, req.GetActivity(), false)
		if err == nil {
			result.Activity, err = activityRecord(row)
		}
		return err
	})
	if err != nil {
		return nil, apierr.In("activity", err)
	}
	return result, nil
}
