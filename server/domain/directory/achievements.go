package directory

import (
	"context"
	"errors"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/audience"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// achievements selects the counters of a channel, and how long it streamed.
var achievements = store.Declare(func(d *store.Dialect, id uid.ID) (string, []any) {
	lapsed, args := audience.CountLapsed(d)
	now, nowArgs := d.Clock.Expression()
	return "SELECT c.tier, c.follower_count, c.subscriber_count - (" + lapsed + "), (SELECT CAST(COALESCE(SUM(COALESCE(t.ended_at, " + now +
		") - t.started_at), 0) AS SIGNED) FROM streams t" + d.ByIndex("stream_channel_id_ended_at_started_at") +
		" WHERE t.channel_id = c.id) FROM channels c WHERE c.id = ?", append(append(args, nowArgs...), id)
})

// GetAchievementStats returns the numbers of the channel of the token's user, or of the user
// whom an app names. A user without a channel has zeros.
func (s *Service) GetAchievementStats(ctx context.Context, req *moderatov1.GetAchievementStatsRequest) (*moderatov1.GetAchievementStatsResponse, error) {
	f := validate.Of(req)
	caller := authn.FromContext(ctx)
	id := caller.UserID
	if req.GetUserId() != "" || !caller.ActsAsUser() {
		id = f.UUID("userId", req.GetUserId())
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	u, err := s.findVisible(ctx, users.Key{ID: id})
	if err != nil {
		return nil, err
	}
	var result moderatov1.GetAchievementStatsResponse
	err = achievements.One(ctx, s.Store, u.ID, func(r *store.Row) {
		result.Tier, result.FollowerCount, result.SubscriberCount = r.Int(), r.Int(), r.Int()
		result.StreamHours = r.Int() / time.Hour.Milliseconds() // rounded down
	})
	if errors.Is(err, store.ErrNoRows) {
		return &result, nil
	}
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	result.UniqueChatters, err = s.Chatters.Count(ctx, u.ID)
	return &result, err
}
