package livestream

import (
	"context"
	"database/sql"
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/audience"
	"github.com/moderato-live/moderato/server/domain/directory"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/store"
)

// channelLiveStats selects the counters of a channel's live stream.
var channelLiveStats = store.Declare(func(d *store.Dialect, id uid.ID) (string, []any) {
	lapsed, args := audience.CountLapsed(d)
	return `
		SELECT c.is_live, c.live_started_at, c.new_follower_count, c.new_subscriber_count - (` + lapsed + ` AND s.subscribed_at >= c.live_started_at), c.viewer_count
		FROM channels c WHERE c.id = ?`, append(args, id)
})

// GetLiveStats returns the counters of the authorized channel's live stream.
func (s *Service) GetLiveStats(ctx context.Context, req *moderatov1.GetLiveStatsRequest) (*moderatov1.GetLiveStatsResponse, error) {
	id, err := listing.OwnChannel(ctx, req.GetChannelId())
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
	return &result, listing.Classify(s.Store, err)
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
	id, err := listing.OwnChannel(ctx, req.GetChannelId())
	if err != nil {
		return nil, err
	}
	row, err := listing.GetChannel(ctx, s.Store, id)
	if err != nil {
		return nil, err
	}
	title, err := directory.CategoryName(ctx, s.Store.Read, row.CategoryID, "")
	if errors.Is(err, sql.ErrNoRows) {
		// The channel has another category since it was read, and this one was deleted.
		row.CategoryID, title, err = 0, directory.UncategorizedName, nil
	}
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
