package channels

import (
	"context"
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

// channelStats selects the counters of a channel.
var channelStats = store.Declare("channel stats", func(d *store.Dialect, id uid.ID) (string, []any) {
	lapsed, args := lapsedSubscriptions(d)
	return "SELECT c.follower_count, c.subscriber_count - (" + lapsed + "), c.viewer_count FROM channels c WHERE c.id = ?", append(args, id)
}, uid.ID{})

// channelLiveStats selects the counters of a channel's live stream.
var channelLiveStats = store.Declare("live stats", func(d *store.Dialect, id uid.ID) (string, []any) {
	lapsed, args := lapsedSubscriptions(d)
	return `
		SELECT c.is_live, c.live_started_at, c.new_follower_count, c.new_subscriber_count - (` + lapsed + ` AND s.subscribed_at >= c.live_started_at), c.viewer_count
		FROM channels c WHERE c.id = ?`, append(args, id)
}, uid.ID{})

// lapsedSubscriptions returns a subquery, with its arguments. The subquery counts the
// lapsed subscriptions that the sweeper has not yet removed from the counters of the
// channel c. They are few, and an index finds them.
func lapsedSubscriptions(d *store.Dialect) (query string, args []any) {
	now, args := d.Clock.Expression()
	return "SELECT COUNT(*) FROM subscriptions s WHERE s.channel_id = c.id AND s.is_active = ? AND s.expires_at <= " + now,
		append([]any{true}, args...)
}

// classify returns the API error for an error of a query for a channel's row. A missing
// row is CHANNEL_NOT_FOUND.
func (s *Service) classify(err error) error {
	if errors.Is(err, store.ErrNoRows) {
		return apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)
	}
	return s.Store.Classify(err)
}

// GetStats returns the counters of the authorized channel.
func (s *Service) GetStats(ctx context.Context, req *moderatov1.GetStatsRequest) (*moderatov1.GetStatsResponse, error) {
	id, err := ownChannel(ctx, req.GetChannelId())
	if err != nil {
		return nil, err
	}
	var result moderatov1.GetStatsResponse
	err = channelStats.One(ctx, s.Store, id, func(r *store.Row) {
		result.FollowerCount, result.SubscriberCount, result.ViewerCount = r.Int(), r.Int(), r.Int()
	})
	return &result, s.classify(err)
}

// GetLiveStats returns the counters of the authorized channel's live stream.
func (s *Service) GetLiveStats(ctx context.Context, req *moderatov1.GetLiveStatsRequest) (*moderatov1.GetLiveStatsResponse, error) {
	id, err := ownChannel(ctx, req.GetChannelId())
	if err != nil {
		return nil, err
	}
	var result moderatov1.GetLiveStatsResponse
	err = channelLiveStats.One(ctx, s.Store, id, func(r *store.Row) {
		isLive, startedAt := r.Bool(), r.OptionalInstant()
		if !isLive {
			return
		}
		result.IsLive, result.StartedAt = true, startedAt.Proto()
		result.NewFollowerCount, result.NewSubscriberCount, result.ViewerCount = r.Int(), r.Int(), r.Int()
	})
	return &result, s.classify(err)
}

// The values of GetStreamInfo's Deprecation header (RFC 9745: 2026-11-01) and of its Link
// header, which names the successor.
const (
	streamInfoDeprecation = "@1793491200"
	streamInfoSuccessor   = `</v1/channels/live-stats>; rel="successor-version"`
)

// GetStreamInfo returns the live state of the authorized channel.
func (s *Service) GetStreamInfo(ctx context.Context, req *moderatov1.GetStreamInfoRequest) (*moderatov1.GetStreamInfoResponse, error) {
	_ = grpc.SetHeader(ctx, metadata.Pairs("deprecation", streamInfoDeprecation, "link", streamInfoSuccessor))
	id, err := ownChannel(ctx, req.GetChannelId())
	if err != nil {
		return nil, err
	}
	row, err := s.channel(ctx, id)
	if err != nil {
		return nil, err
	}
	title, err := categoryName(ctx, s.Store.Read, row.CategoryID, "")
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	info := &moderatov1.GetStreamInfoResponse{
		IsLive:        row.IsLive,
		Title:         row.Title,
		PreviewImgUrl: row.PreviewImgURL,
		Category:      &moderatov1.StreamCategory{Id: row.CategoryID, Title: title},
	}
	if row.LiveStartedAt != nil {
		info.StartedAt = row.LiveStartedAt.Proto()
	}
	return info, nil
}

// categoryName returns the display name of a category. lock is the locking clause that
// ends the statement; it may be empty.
func categoryName(ctx context.Context, q store.Queryer, id int64, lock string) (string, error) {
	if id == 0 {
		return uncategorizedName, nil
	}
	var name string
	err := store.QueryRow(ctx, q, "SELECT name FROM categories WHERE id = ?"+lock, []any{id}, &name)
	return name, err
}
