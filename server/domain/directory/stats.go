package directory

import (
	"context"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/audience"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/store"
)

// channelStats selects the counters of a channel.
var channelStats = store.Declare(func(d *store.Dialect, id uid.ID) (string, []any) {
	lapsed, args := audience.CountLapsed(d)
	return "SELECT c.follower_count, c.subscriber_count - (" + lapsed + "), c.viewer_count FROM channels c WHERE c.id = ?", append(args, id)
})

// GetStats returns the counters of the authorized channel.
func (s *Service) GetStats(ctx context.Context, req *moderatov1.GetStatsRequest) (*moderatov1.GetStatsResponse, error) {
	id, err := listing.OwnChannel(ctx, req.GetChannelId())
	if err != nil {
		return nil, err
	}
	var result moderatov1.GetStatsResponse
	err = channelStats.One(ctx, s.Store, id, func(r *store.Row) {
		result.FollowerCount, result.SubscriberCount, result.ViewerCount = r.Int(), r.Int(), r.Int()
	})
	return &result, listing.Classify(s.Store, err)
}

// CategoryName returns the display name of a category. lock is the locking clause that
// ends the statement; it may be empty.
func CategoryName(ctx context.Context, q store.Queryer, id int64, lock string) (string, error) {
	if id == 0 {
		return UncategorizedName, nil
	}
	var name string
	err := store.QueryRow(ctx, q, "SELECT name FROM categories WHERE id = ?"+lock, []any{id}, &name)
	return name, err
}
