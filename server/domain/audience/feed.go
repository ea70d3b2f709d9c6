package audience

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/follow"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/domain/activity"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// Service serves AudienceService.
type Service struct {
	platformv1.UnsafeAudienceServiceServer

	// Store is the database.
	Store *store.Store
}

// Follow makes a user follow a channel.
func (s *Service) Follow(ctx context.Context, req *platformv1.FollowRequest) (*platformv1.FollowResponse, error) {
	var fields validate.Fields
	fields.Time("followedAt", req.GetFollowedAt())
	channelID, userID, err := channelAndUser(&fields, req)
	if err != nil {
		return nil, err
	}
	r := &followRequest{userID: userID, wanted: req}
	respond := idempotency.Response(ctx, func() *platformv1.FollowResponse {
		return &platformv1.FollowResponse{Follow: followRecord(r.follow)}
	})
	if err := follows.Do(ctx, s.Store, channelID, r); err != nil {
		return nil, err
	}
	return respond(), nil
}

// channelAndUser parses the two ids of a request, after its other fields. The user
// must not be the channel's owner.
func channelAndUser(f *validate.Fields, req interface {
	GetChannelId() string
	GetUserId() string
}) (channelID, userID uid.ID, err error) {
	channelID, userID = f.UUID("channelId", req.GetChannelId()), f.UUID("userId", req.GetUserId())
	if err = f.Err(); err == nil && channelID == userID {
		err = apierr.New(moderatov1.Reason_REASON_TARGET_IS_CHANNEL)
	}
	return channelID, userID, err
}

func followRecord(f *ent.Follow) *platformv1.FollowRecord {
	return &platformv1.FollowRecord{
		ChannelId: f.ChannelID.String(), UserId: f.UserID.String(),
		FollowedAt: f.FollowedAt.Proto(), IsNotificationEnabled: f.IsNotificationEnabled,
	}
}

// Unfollow ends a follow.
func (s *Service) Unfollow(ctx context.Context, req *platformv1.UnfollowRequest) (*platformv1.UnfollowResponse, error) {
	channelID, userID, err := channelAndUser(new(validate.Fields), req)
	if err != nil {
		return nil, err
	}
	if err := follows.Do(ctx, s.Store, channelID, &followRequest{userID: userID}); err != nil {
		return nil, err
	}
	return &platformv1.UnfollowResponse{}, nil
}

// SetFollowNotifications sets whether a follower wants notifications.
func (s *Service) SetFollowNotifications(ctx context.Context, req *platformv1.SetFollowNotificationsRequest) (*platformv1.SetFollowNotificationsResponse, error) {
	channelID, userID, err := channelAndUser(new(validate.Fields), req)
	if err != nil {
		return nil, err
	}
	var f *ent.Follow
	respond := idempotency.Response(ctx, func() *platformv1.SetFollowNotificationsResponse {
		return &platformv1.SetFollowNotificationsResponse{Follow: followRecord(f)}
	})
	err = change.ApplyTo(ctx, s.Store, channelID, users.Key{ID: userID}, func(ctx context.Context, c *change.Change, _ *ent.User) error {
		var err error
		if f, err = FindFollow(ctx, c.Tx, channelID, userID); err != nil {
			return err
		}
		if f == nil {
			return apierr.New(moderatov1.Reason_REASON_NOT_FOLLOWING)
		}
		f.IsNotificationEnabled = req.GetIsNotificationEnabled()
		return c.Tx.Follow.Update().Where(follow.ChannelID(channelID), follow.UserID(userID)).
			SetIsNotificationEnabled(f.IsNotificationEnabled).
			Exec(ctx)
	})
	if err != nil {
		return nil, err
	}
	return respond(), nil
}

// PutSubscription creates or replaces a subscription.
func (s *Service) PutSubscription(ctx context.Context, req *platformv1.PutSubscriptionRequest) (*platformv1.PutSubscriptionResponse, error) {
	want, err := parseSubscription(req.GetSubscription())
	if err != nil {
		return nil, apierr.In("subscription", err)
	}
	var stored *ent.Subscription
	respond := idempotency.Response(ctx, func() *platformv1.PutSubscriptionResponse {
		return &platformv1.PutSubscriptionResponse{Subscription: subscriptionRecord(stored)}
	})
	err = change.Apply(ctx, s.Store, want.ChannelID, func(ctx context.Context, c *change.Change) error {
		tx := feed.InChange(c)
		before, after, err := putSubscription(ctx, tx, req.GetSubscription())
		if err != nil {
			return apierr.In("subscription", err)
		}
		stored = after
		return emitChange(ctx, tx, c, before, after)
	})
	if err != nil {
		return nil, err
	}
	return respond(), nil
}

// emitChange writes the events and the activity of a subscription that was
// stored; before is nil if there was none.
func emitChange(ctx context.Context, tx feed.Tx, c *change.Change, before, after *ent.Subscription) error {
	if before != nil && sameSubscription(before, after) {
		return nil
	}
	user, err := users.Get(ctx, tx.User, after.UserID)
	if err != nil {
		return err
	}
	wasActive := isActive(before, tx.Now)
	if before != nil && before.IsActive && !wasActive {
		// It expired, and the sweeper has not emitted its event yet.
		c.ByNobody(func() { EmitSubscription(c, "channel.subscription.end", user, before) })
	}
	switch {
	case after.IsActive:
		EmitSubscription(c, "channel.subscribe", user, after)
	case wasActive:
		EmitSubscription(c, "channel.subscription.end", user, after)
	}
	if !after.IsActive || (wasActive && after.RenewCount <= before.RenewCount) {
		return nil
	}
	_, err = activity.Record(ctx, c, activity.Occurrence{
		Kind: activity.Subscriber, User: user, At: after.SubscribedAt, Facts: map[string]any{"renewCount": after.RenewCount},
	})
	return err
}

// EndSubscription ends a subscription immediately.
func (s *Service) EndSubscription(ctx context.Context, req *platformv1.EndSubscriptionRequest) (*platformv1.EndSubscriptionResponse, error) {
	channelID, userID, err := channelAndUser(new(validate.Fields), req)
	if err != nil {
		return nil, err
	}
	err = change.ApplyTo(ctx, s.Store, channelID, users.Key{ID: userID}, func(ctx context.Context, c *change.Change, user *ent.User) error {
		before, err := FindSubscription(ctx, c.Tx, channelID, userID)
		if err != nil || !isActive(before, c.Now) {
			return err
		}
		channel, err := c.Tx.Channel.Get(ctx, channelID)
		if err != nil {
			return err
		}
		ended := &ent.Subscription{
			ChannelID: channelID, UserID: userID, SubscribedAt: before.SubscribedAt, ExpiresAt: c.Now,
			RenewCount: before.RenewCount, StreakCount: before.StreakCount,
		}
		EmitSubscription(c, "channel.subscription.end", user, ended)
		return PutSubscription(ctx, c.Tx, channel, before, ended)
	})
	return &platformv1.EndSubscriptionResponse{}, err
}
