package audience

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

// putSubscription stores a subscription. It returns the row before, which is nil if
// there was none, and the row after.
func putSubscription(ctx context.Context, tx feed.Tx, r *platformv1.SubscriptionRecord) (before, after *ent.Subscription, err error) {
	want, err := parseSubscription(r)
	if err != nil {
		return nil, nil, err
	}
	channel, err := tx.LockChannel(ctx, want.ChannelID)
	if err != nil {
		return nil, nil, err
	}
	if err := tx.RequireUser(ctx, want.UserID); err != nil {
		return nil, nil, err
	}
	if before, err = FindSubscription(ctx, tx.Tx, want.ChannelID, want.UserID); err != nil {
		return nil, nil, err
	}
	if r.GetSubscribedAt() == nil {
		want.SubscribedAt = periodStart(tx, before, want)
	}
	if want.ExpiresAt <= want.SubscribedAt {
		return nil, nil, apierr.Invalid(apierr.Violation{Field: "expiresAt", Description: "must be after subscribedAt"})
	}
	want.IsActive = tx.Now < want.ExpiresAt
	if before != nil && sameSubscription(before, want) {
		return before, want, nil
	}
	return before, want, PutSubscription(ctx, tx.Tx, channel, before, want)
}

// periodStart returns the start of a period whose record does not state it: the start
// of the existing period, if the record is for the same one, else now.
func periodStart(tx feed.Tx, before, want *ent.Subscription) instant.Instant {
	switch {
	case before == nil:
	case before.ExpiresAt == want.ExpiresAt && before.RenewCount == want.RenewCount:
		return before.SubscribedAt // a repeat
	case isActive(before, tx.Now) && want.RenewCount <= before.RenewCount:
		return before.SubscribedAt
	}
	return tx.Now
}

func sameSubscription(a, b *ent.Subscription) bool {
	return a.IsActive == b.IsActive && proto.Equal(subscriptionRecord(a), subscriptionRecord(b))
}

// isActive reports whether a subscription is active at an instant. An expired
// subscription is not active, whether or not it was swept.
func isActive(s *ent.Subscription, now instant.Instant) bool {
	return s != nil && s.IsActive && now < s.ExpiresAt
}

func parseSubscription(r *platformv1.SubscriptionRecord) (*ent.Subscription, error) {
	f := validate.Of(r)
	s := &ent.Subscription{
		ChannelID:   f.UUID("channelId", r.GetChannelId()),
		UserID:      f.UUID("userId", r.GetUserId()),
		RenewCount:  f.Number("renewCount", r.GetRenewCount()),
		StreakCount: f.Number("streakCount", r.GetStreakCount()),
	}
	s.SubscribedAt, _ = f.Time("subscribedAt", r.GetSubscribedAt())
	s.ExpiresAt, _ = f.RequiredTime("expiresAt", r.GetExpiresAt())
	if err := f.Err(); err != nil {
		return nil, err
	}
	if s.ChannelID == s.UserID {
		return nil, apierr.New(moderatov1.Reason_REASON_TARGET_IS_CHANNEL)
	}
	return s, nil
}

func subscriptionRecord(s *ent.Subscription) *platformv1.SubscriptionRecord {
	return &platformv1.SubscriptionRecord{
		ChannelId: s.ChannelID.String(), UserId: s.UserID.String(), SubscribedAt: s.SubscribedAt.Proto(), ExpiresAt: s.ExpiresAt.Proto(),
		RenewCount: s.RenewCount, StreakCount: s.StreakCount,
	}
}
