package audience

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/events"
)

// EmitFollow emits the event of a follow that began.
func EmitFollow(c *events.Change, u *ent.User, f *ent.Follow) {
	c.Emit(events.Follow, u.ID, followEvent(c, u, f, nil))
}

// EmitUnfollow emits the event of a follow that ended.
func EmitUnfollow(c *events.Change, u *ent.User, f *ent.Follow) {
	c.Emit(events.Unfollow, u.ID, followEvent(c, u, f, c.Now.Proto()))
}

func followEvent(c *events.Change, u *ent.User, f *ent.Follow, ended *timestamppb.Timestamp) *moderatov1.FollowEvent {
	return &moderatov1.FollowEvent{
		ChannelId:       c.ChannelID.String(),
		ClientId:        c.ClientID,
		UserId:          u.ID.String(),
		UserDisplayName: u.DisplayName,
		UserSlug:        u.Slug,
		FollowedAt:      f.FollowedAt.Proto(),
		UnfollowedAt:    ended,
	}
}

// EmitSubscription emits an event of a subscription that began or changed or, with
// events.SubscriptionEnd, ended.
func EmitSubscription(c *events.Change, kind events.Type, u *ent.User, s *ent.Subscription) {
	c.Emit(kind, u.ID, &moderatov1.SubscriptionEvent{
		ChannelId:       c.ChannelID.String(),
		ClientId:        c.ClientID,
		UserId:          u.ID.String(),
		UserDisplayName: u.DisplayName,
		UserSlug:        u.Slug,
		SubscribedAt:    s.SubscribedAt.Proto(),
		ExpiresAt:       s.ExpiresAt.Proto(),
		RenewCount:      s.RenewCount,
		StreakCount:     s.StreakCount,
	})
}
