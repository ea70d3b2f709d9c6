package audience

import (
	"context"
	"errors"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/follow"
	"github.com/moderato-live/moderato/ent/subscription"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

var references = []tables.Reference{{Column: "channel_id", Table: "channels"}, {Column: "user_id", Table: "users"}}

// Tables describes the tables of the audience.
var Tables = []tables.Table{
	{
		// The import stores follows in bulk, with PutFollows.
		Name: "follows", Channel: "channel_id", References: references,
		Users: []tables.UserColumn{{Name: "user_id", Erase: tables.WithRow}},
		Erase: tables.Erasure{User: []tables.Step{{Name: "follows of the user", Do: eraseFollow}}},
		Checks: []tables.Check{
			tables.CountCheck("follower_count", "SELECT COUNT(*) FROM follows r WHERE r.channel_id = c.id"),
			tables.CountCheck("new_follower_count", "SELECT COUNT(*) FROM follows r WHERE r.channel_id = c.id AND r.followed_at >= c.live_started_at"),
		},
	},
	{
		Name: "subscriptions", Channel: "channel_id", References: references,
		Users: []tables.UserColumn{{Name: "user_id", Erase: tables.WithRow}},
		Erase: tables.Erasure{User: []tables.Step{{Name: "subscriptions of the user", Do: eraseSubscription}}},
		Imports: []tables.Import{tables.ImportOf((*platformv1.Record).GetSubscription,
			func(ctx context.Context, tx feed.Tx, r *platformv1.SubscriptionRecord) error {
				_, _, err := putSubscription(ctx, tx, r)
				return err
			}, (*platformv1.SubscriptionRecord).GetChannelId)},
		Checks: []tables.Check{
			{
				Name: "subscriptions that have ended are swept",
				Query: `SELECT ` + tables.Pair("channel_id", "user_id") + `, CONCAT('is a subscription that ended at ', expires_at, ' and is counted')
					FROM subscriptions WHERE expires_at < ? AND ` + toSweep,
				Args: tables.AMinuteAgo,
			},
			tables.CountCheck("subscriber_count", "SELECT COUNT(*) FROM subscriptions r WHERE r.channel_id = c.id AND r.is_active"),
			tables.CountCheck("new_subscriber_count", "SELECT COUNT(*) FROM subscriptions r WHERE r.channel_id = c.id AND r.is_active AND r.subscribed_at >= c.live_started_at"),
		},
		Expire: func(env tables.Env) jobs.Job {
			return jobs.Job{
				Name: "end expired subscriptions", Interval: sweepInterval,
				Run: jobs.All((&Sweeper{Store: env.Store}).Sweep),
				Due: jobs.Lapsed(env.Store, "subscriptions", "expires_at", 0, toSweep),
			}
		},
	},
}

// eraseFollow removes one follow of a deleted user. Each follow is in another channel,
// whose row must be locked for its counters.
func eraseFollow(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID) (int, error) {
	found, err := tx.Follow.Query().Where(follow.UserID(id)).Limit(1).All(ctx)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return tables.EraseBatch, inChannel(ctx, s, tx, found[0].ChannelID, func(c *ent.Channel) error {
		// A concurrent call may have removed the follow before this transaction got
		// the lock.
		row, err := FindFollow(ctx, tx, found[0].ChannelID, id)
		if err != nil || row == nil {
			return err
		}
		return ForgetFollow(ctx, tx, c, row)
	})
}

// eraseSubscription removes one subscription of a deleted user.
func eraseSubscription(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID) (int, error) {
	found, err := tx.Subscription.Query().Where(subscription.UserID(id)).Limit(1).All(ctx)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return tables.EraseBatch, inChannel(ctx, s, tx, found[0].ChannelID, func(c *ent.Channel) error {
		// The sweeper may have changed the row before this transaction got the lock.
		row, err := FindSubscription(ctx, tx, found[0].ChannelID, id)
		if err != nil || row == nil {
			return err
		}
		return RemoveSubscription(ctx, tx, c, row)
	})
}

// inChannel locks a channel and calls body with its row. If the channel was deleted,
// inChannel calls body with nil.
func inChannel(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID, body func(*ent.Channel) error) error {
	c, err := change.LockRow(ctx, s, tx, id)
	if err != nil && !errors.Is(err, apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)) {
		return err
	}
	return body(c)
}
