package platform

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/subscription"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/fault"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/validate"
)

func (p putter) subscription(ctx context.Context, r *platformv1.SubscriptionRecord) error {
	var f validate.Fields
	channelID := f.UUID("channelId", r.GetChannelId())
	userID := f.UUID("userId", r.GetUserId())
	subscribedAt, expiresAt := p.now, instant.Instant(0)
	if r.GetSubscribedAt() != nil {
		subscribedAt = instant.OfProto(r.GetSubscribedAt())
	}
	if r.GetExpiresAt() == nil {
		f.Add("expiresAt", "is required")
	} else if expiresAt = instant.OfProto(r.GetExpiresAt()); expiresAt <= subscribedAt {
		f.Add("expiresAt", "must be after subscribedAt")
	}
	f.Natural("renewCount", r.GetRenewCount())
	f.Natural("streakCount", r.GetStreakCount())
	if err := f.Err(); err != nil {
		return err
	}
	if channelID == userID {
		return fault.New(moderatov1.Reason_REASON_TARGET_IS_CHANNEL)
	}
	channel, err := p.lockChannel(ctx, channelID)
	if err != nil {
		return err
	}
	if err := p.requireUser(ctx, userID); err != nil {
		return err
	}
	isActive := p.now < expiresAt
	before, err := p.Subscription.Query().Where(subscription.ChannelID(channelID), subscription.UserID(userID)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		err = p.Subscription.Create().SetChannelID(channelID).SetUserID(userID).
			SetSubscribedAt(subscribedAt).SetExpiresAt(expiresAt).SetIsActive(isActive).
			SetRenewCount(r.GetRenewCount()).SetStreakCount(r.GetStreakCount()).
			Exec(ctx)
	case err == nil:
		err = p.Subscription.Update().Where(subscription.ChannelID(channelID), subscription.UserID(userID)).
			SetSubscribedAt(subscribedAt).SetExpiresAt(expiresAt).SetIsActive(isActive).
			SetRenewCount(r.GetRenewCount()).SetStreakCount(r.GetStreakCount()).
			Exec(ctx)
	}
	if err != nil {
		return err
	}
	return p.countSubscription(ctx, channel, before, isActive, subscribedAt)
}

// countSubscription brings the channel's counters from the row before to the
// row as it is now.
func (p putter) countSubscription(ctx context.Context, channel *ent.Channel, before *ent.Subscription, isActive bool, subscribedAt instant.Instant) error {
	isNew := func(at instant.Instant) bool { return channel.LiveStartedAt != nil && at >= *channel.LiveStartedAt }
	active, fresh := toInt(isActive), toInt(isActive && isNew(subscribedAt))
	if before != nil && before.IsActive {
		active--
		fresh -= toInt(isNew(before.SubscribedAt))
	}
	if active == 0 && fresh == 0 {
		return nil
	}
	return p.Channel.UpdateOneID(channel.ID).
		AddSubscriberCount(int64(active)).AddNewSubscriberCount(int64(fresh)).
		Exec(ctx)
}

// lockChannel locks a channel's row, which every change of its counters does
// first, and reads it.
func (p putter) lockChannel(ctx context.Context, id uid.ID) (*ent.Channel, error) {
	rows, err := p.QueryContext(ctx, "SELECT id FROM channels WHERE id = ?"+p.ForUpdate(), id)
	if err != nil {
		return nil, err
	}
	if err := rows.Close(); err != nil {
		return nil, err
	}
	row, err := p.Channel.Get(ctx, id)
	if ent.IsNotFound(err) {
		return nil, fault.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)
	}
	return row, err
}
