package platform

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/follow"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/audience"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
	"github.com/moderato-live/moderato/server/validate"
)

// Audience serves AudienceService.
type Audience struct {
	platformv1.UnsafeAudienceServiceServer

	// Store is the database.
	Store *store.Store
}

// Follow makes a user follow a channel.
func (s *Audience) Follow(ctx context.Context, req *platformv1.FollowRequest) (*platformv1.FollowResponse, error) {
	var fields validate.Fields
	fields.Time("followedAt", req.GetFollowedAt())
	channelID, userID, err := channelAndUser(&fields, req)
	if err != nil {
		return nil, err
	}
	var f *ent.Follow
	err = change.ApplyTo(ctx, s.Store, channelID, users.Key{ID: userID}, func(ctx context.Context, c *change.Change, user *ent.User) error {
		p := ofChange(c)
		if f, err = audience.FindFollow(ctx, p.Tx, channelID, userID); err != nil || f != nil {
			return err
		}
		f = &ent.Follow{
			ChannelID: channelID, UserID: userID,
			FollowedAt: p.orNow(req.GetFollowedAt()), IsNotificationEnabled: req.GetIsNotificationEnabled(),
		}
		if err := audience.AddFollow(ctx, c, f); err != nil {
			return err
		}
		audience.EmitFollow(c, user, f)
		_, err = p.record(ctx, c, occurrence{kind: followerActivity, user: user, at: f.FollowedAt})
		return err
	})
	if err != nil {
		return nil, err
	}
	return &platformv1.FollowResponse{Follow: followRecord(f)}, nil
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
func (s *Audience) Unfollow(ctx context.Context, req *platformv1.UnfollowRequest) (*platformv1.UnfollowResponse, error) {
	channelID, userID, err := channelAndUser(new(validate.Fields), req)
	if err != nil {
		return nil, err
	}
	err = change.ApplyTo(ctx, s.Store, channelID, users.Key{ID: userID}, func(ctx context.Context, c *change.Change, user *ent.User) error {
		f, err := audience.FindFollow(ctx, c.Tx, channelID, userID)
		if err != nil || f == nil {
			return err
		}
		audience.EmitUnfollow(c, user, f)
		return audience.RemoveFollow(ctx, c, f)
	})
	return &platformv1.UnfollowResponse{}, err
}

// SetFollowNotifications sets whether a follower wants notifications.
func (s *Audience) SetFollowNotifications(ctx context.Context, req *platformv1.SetFollowNotificationsRequest) (*platformv1.SetFollowNotificationsResponse, error) {
	channelID, userID, err := channelAndUser(new(validate.Fields), req)
	if err != nil {
		return nil, err
	}
	var f *ent.Follow
	err = change.ApplyTo(ctx, s.Store, channelID, users.Key{ID: userID}, func(ctx context.Context, c *change.Change, _ *ent.User) error {
		var err error
		if f, err = audience.FindFollow(ctx, c.Tx, channelID, userID); err != nil {
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
	return &platformv1.SetFollowNotificationsResponse{Follow: followRecord(f)}, nil
}

// PutSubscription creates or replaces a subscription.
func (s *Audience) PutSubscription(ctx context.Context, req *platformv1.PutSubscriptionRequest) (*platformv1.PutSubscriptionResponse, error) {
	want, err := parseSubscription(req.GetSubscription())
	if err != nil {
		return nil, apierr.In("subscription", err)
	}
	var stored *ent.Subscription
	err = change.Apply(ctx, s.Store, want.ChannelID, func(ctx context.Context, c *change.Change) error {
		p := ofChange(c)
		before, after, err := p.subscription(ctx, req.GetSubscription())
		if err != nil {
			return apierr.In("subscription", err)
		}
		stored = after
		return p.tellSubscription(ctx, c, before, after)
	})
	if err != nil {
		return nil, err
	}
	return &platformv1.PutSubscriptionResponse{Subscription: subscriptionRecord(stored)}, nil
}

// tellSubscription writes the events and the activity of a subscription that was
// stored; before is nil if there was none.
func (p putter) tellSubscription(ctx context.Context, c *change.Change, before, after *ent.Subscription) error {
	if before != nil && sameSubscription(before, after) {
		return nil
	}
	user, err := users.Get(ctx, p.User, after.UserID)
	if err != nil {
		return err
	}
	wasActive := isActive(before, p.now)
	if before != nil && before.IsActive && !wasActive {
		// It expired, and the sweeper has not emitted its event yet.
		c.ByNobody(func() { audience.EmitSubscription(c, "channel.subscription.end", user, before) })
	}
	switch {
	case after.IsActive:
		audience.EmitSubscription(c, "channel.subscribe", user, after)
	case wasActive:
		audience.EmitSubscription(c, "channel.subscription.end", user, after)
	}
	if !after.IsActive || (wasActive && after.RenewCount <= before.RenewCount) {
		return nil
	}
	_, err = p.record(ctx, c, occurrence{
		kind: subscriberActivity, user: user, at: after.SubscribedAt, facts: map[string]any{"renewCount": after.RenewCount},
	})
	return err
}

// EndSubscription ends a subscription immediately.
func (s *Audience) EndSubscription(ctx context.Context, req *platformv1.EndSubscriptionRequest) (*platformv1.EndSubscriptionResponse, error) {
	channelID, userID, err := channelAndUser(new(validate.Fields), req)
	if err != nil {
		return nil, err
	}
	err = change.ApplyTo(ctx, s.Store, channelID, users.Key{ID: userID}, func(ctx context.Context, c *change.Change, user *ent.User) error {
		before, err := audience.FindSubscription(ctx, c.Tx, channelID, userID)
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
		audience.EmitSubscription(c, "channel.subscription.end", user, ended)
		return audience.PutSubscription(ctx, c.Tx, channel, before, ended)
	})
	return &platformv1.EndSubscriptionResponse{}, err
}
