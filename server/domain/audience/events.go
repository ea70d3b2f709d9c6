package audience

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
)

// EmitFollow emits the event of a follow that began.
func EmitFollow(c *change.Change, u *ent.User, f *ent.Follow) {
	c.Emit("channel.follow", u.ID, followEvent(c, u, f, f.FollowedAt.Proto(), nil))
}

// EmitUnfollow emits the event of a follow that ended.
func EmitUnfollow(c *change.Change, u *ent.User, f *ent.Follow) {
	now := c.Now.Proto()
	c.Emit("channel.unfollow", u.ID, followEvent(c, u, f, now, now))
}

func followEvent(c *change.Change, u *ent.User, f *ent.Follow, at, ended *timestamppb.Timestamp) *moderatov1.FollowEvent {
	return &moderatov1.FollowEvent{
		ChannelId:       c.ChannelID.String(),
		ClientId:        c.ClientID,
		UserId:          u.ID.String(),
		UserDisplayName: u.DisplayName,
		UserSlug:        u.Slug,
		FollowedAt:      f.FollowedAt.Proto(),
		UnfollowedAt:    ended,
		Follower: &moderatov1.Follower{
			Id: u.ID.String(), Username: u.Username, DisplayName: u.DisplayName, AvatarUrl: u.AvatarURL, FollowedAt: f.FollowedAt.Proto(),
		},
		CreatedAt: at,
	}
}

// EmitSubscription emits an event of a subscription that began or changed or, with
// "channel.subscription.end", ended.
func EmitSubscription(c *change.Change, kind eventtype.Type, u *ent.User, s *ent.Subscription) {
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
		Subscriber: &moderatov1.Subscriber{
			Id: u.ID.String(), Username: u.Username, DisplayName: u.DisplayName, AvatarUrl: u.AvatarURL,
			SubscribedAt: s.SubscribedAt.Proto(), SubscriptionExpiresAt: s.ExpiresAt.Proto(),
		},
		Months:       s.RenewCount + 1,
		StreakMonths: s.StreakCount,
		CreatedAt:    c.Now.Proto(),
	})
}
