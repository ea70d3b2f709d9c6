package channels

import (
	"context"
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/fault"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

// counters are a channel's numbers at one instant.
type counters struct {
	followers, subscribers, viewers  int64
	newFollowers, newSubscribers     int64
	isLive                           bool
	liveStartedAt                    *instant.Instant
	lapsedSubscribers, newLapsedOnes int64
}

// readCounters reads the channel's row, and how many of the subscriptions that
// it counts have lapsed without the sweeper having taken them off: those few are
// found on their index.
func (s *Service) readCounters(ctx context.Context, id uid.ID) (*counters, error) {
	var c counters
	now, nowArgs := s.Store.Clock.Expression()
	args := append([]any{true}, nowArgs...)
	args = append(append(append(args, true), nowArgs...), id)
	err := s.Store.One(ctx, `
		SELECT c.follower_count, c.subscriber_count, c.viewer_count, c.new_follower_count, c.new_subscriber_count,
			c.is_live, c.live_started_at,
			(SELECT COUNT(*) FROM subscriptions s WHERE s.channel_id = c.id AND s.is_active = ? AND s.expires_at <= `+now+`),
			(SELECT COUNT(*) FROM subscriptions s WHERE s.channel_id = c.id AND s.is_active = ? AND s.expires_at <= `+now+`
				AND s.subscribed_at >= c.live_started_at)
		FROM channels c WHERE c.id = ?`,
		args,
		func(r *store.Row) {
			c = counters{
				followers: r.Int(), subscribers: r.Int(), viewers: r.Int(), newFollowers: r.Int(), newSubscribers: r.Int(),
				isLive: r.Bool(), liveStartedAt: r.OptionalInstant(), lapsedSubscribers: r.Int(), newLapsedOnes: r.Int(),
			}
		})
	if errors.Is(err, store.ErrNoRows) {
		return nil, fault.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)
	}
	c.subscribers -= c.lapsedSubscribers
	c.newSubscribers -= c.newLapsedOnes
	return &c, s.Store.Classify(err)
}

// GetStats answers the counters of the authorized channel.
func (s *Service) GetStats(ctx context.Context, req *moderatov1.GetStatsRequest) (*moderatov1.GetStatsResponse, error) {
	id, err := ownChannel(ctx, req.GetChannelId())
	if err != nil {
		return nil, err
	}
	c, err := s.readCounters(ctx, id)
	if err != nil {
		return nil, err
	}
	return &moderatov1.GetStatsResponse{
		FollowerCount:   c.followers,
		SubscriberCount: c.subscribers,
		ViewerCount:     c.viewers,
	}, nil
}

// GetLiveStats answers the counters of the authorized channel's live stream.
func (s *Service) GetLiveStats(ctx context.Context, req *moderatov1.GetLiveStatsRequest) (*moderatov1.GetLiveStatsResponse, error) {
	id, err := ownChannel(ctx, req.GetChannelId())
	if err != nil {
		return nil, err
	}
	c, err := s.readCounters(ctx, id)
	if err != nil || !c.isLive {
		return &moderatov1.GetLiveStatsResponse{}, err
	}
	return &moderatov1.GetLiveStatsResponse{
		StartedAt:          c.liveStartedAt.Proto(),
		IsLive:             true,
		NewFollowerCount:   c.newFollowers,
		NewSubscriberCount: c.newSubscribers,
		ViewerCount:        c.viewers,
	}, nil
}

// When GetStreamInfo was deprecated (RFC 9745: 2026-11-01), and what takes its
// place.
const (
	streamInfoDeprecation = "@1793491200"
	streamInfoSuccessor   = `</v1/channels/live-stats>; rel="successor-version"`
)

// GetStreamInfo answers the live state of the authorized channel.
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

// categoryName is the name of a category as people see it. lock is what the
// statement ends with.
func categoryName(ctx context.Context, q store.Queryer, id int64, lock string) (string, error) {
	if id == 0 {
		return uncategorizedName, nil
	}
	var name string
	err := store.QueryRow(ctx, q, "SELECT name FROM categories WHERE id = ?"+lock, []any{id}, &name)
	return name, err
}
