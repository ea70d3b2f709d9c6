// Package audience stores the follows of a channel and the subscriptions to it, and
// maintains the counters in the channel's row. The caller must have locked the channel in
// the transaction. A nil channel means that the channel was deleted; then nothing is
// counted.
package audience

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/channel"
	"github.com/moderato-live/moderato/ent/follow"
	"github.com/moderato-live/moderato/ent/subscription"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
)

// isNew reports whether a follow or subscription that began at an instant counts for the
// live stream.
func isNew(liveStartedAt *instant.Instant, at instant.Instant) bool {
	return liveStartedAt != nil && at >= *liveStartedAt
}

// FindFollow returns a user's follow, or nil if there is none.
func FindFollow(ctx context.Context, tx *ent.Tx, channelID, userID uid.ID) (*ent.Follow, error) {
	f, err := tx.Follow.Query().Where(follow.ChannelID(channelID), follow.UserID(userID)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil //nolint:nilnil // no follow is no error
	}
	return f, err
}

// ForgetFollow removes the follow of a user who is being erased and subtracts it from the
// counters. It needs no change.Change, because no event is emitted.
func ForgetFollow(ctx context.Context, tx *ent.Tx, c *ent.Channel, f *ent.Follow) error {
	if err := deleteFollow(ctx, tx, f); err != nil || c == nil {
		return err
	}
	all, duringStream := countsOf(c.LiveStartedAt, f, -1)
	return tx.Channel.Update().Where(channel.ID(c.ID)).AddFollowerCount(all).AddNewFollowerCount(duringStream).Exec(ctx)
}

func deleteFollow(ctx context.Context, tx *ent.Tx, f *ent.Follow) error {
	_, err := tx.Follow.Delete().Where(follow.ChannelID(f.ChannelID), follow.UserID(f.UserID)).Exec(ctx)
	return err
}

// countsOf returns what a follow adds to the channel's counters, times by.
func countsOf(liveStartedAt *instant.Instant, f *ent.Follow, by int64) (all, duringStream int64) {
	if isNew(liveStartedAt, f.FollowedAt) {
		duringStream = by
	}
	return by, duringStream
}

// FindSubscription returns a user's subscription, active or not, or nil if there is none.
func FindSubscription(ctx context.Context, tx *ent.Tx, channelID, userID uid.ID) (*ent.Subscription, error) {
	s, err := tx.Subscription.Query().Where(subscription.ChannelID(channelID), subscription.UserID(userID)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil //nolint:nilnil // no subscription is no error
	}
	return s, err
}

// PutSubscription stores a subscription in place of before, which is nil if there is
// none, and updates the counters. A subscription counts if it is marked active.
func PutSubscription(ctx context.Context, tx *ent.Tx, c *ent.Channel, before, s *ent.Subscription) error {
	var err error
	if before == nil {
		err = tx.Subscription.Create().SetChannelID(s.ChannelID).SetUserID(s.UserID).
			SetSubscribedAt(s.SubscribedAt).SetExpiresAt(s.ExpiresAt).SetIsActive(s.IsActive).
			SetRenewCount(s.RenewCount).SetStreakCount(s.StreakCount).
			Exec(ctx)
	} else {
		err = tx.Subscription.Update().Where(subscription.ChannelID(s.ChannelID), subscription.UserID(s.UserID)).
			SetSubscribedAt(s.SubscribedAt).SetExpiresAt(s.ExpiresAt).SetIsActive(s.IsActive).
			SetRenewCount(s.RenewCount).SetStreakCount(s.StreakCount).
			Exec(ctx)
	}
	if err != nil {
		return err
	}
	return countSubscription(ctx, tx, c, before, s)
}

// RemoveSubscription removes an existing subscription and updates the counters.
func RemoveSubscription(ctx context.Context, tx *ent.Tx, c *ent.Channel, s *ent.Subscription) error {
	_, err := tx.Subscription.Delete().Where(subscription.ChannelID(s.ChannelID), subscription.UserID(s.UserID)).Exec(ctx)
	if err != nil {
		return err
	}
	return countSubscription(ctx, tx, c, s, nil)
}

// countSubscription updates the channel's counters for a change of a subscription from
// before to after. A nil subscription means that there is no row.
func countSubscription(ctx context.Context, tx *ent.Tx, c *ent.Channel, before, after *ent.Subscription) error {
	if c == nil {
		return nil
	}
	var active, fresh int64
	for _, change := range []struct {
		row *ent.Subscription
		by  int64
	}{{before, -1}, {after, 1}} {
		if change.row == nil || !change.row.IsActive {
			continue
		}
		active += change.by
		if isNew(c.LiveStartedAt, change.row.SubscribedAt) {
			fresh += change.by
		}
	}
	if active == 0 && fresh == 0 {
		return nil
	}
	return tx.Channel.Update().Where(channel.ID(c.ID)).AddSubscriberCount(active).AddNewSubscriberCount(fresh).Exec(ctx)
}
