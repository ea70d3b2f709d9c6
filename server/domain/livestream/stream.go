package livestream

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// Service serves StreamService.
type Service struct {
	platformv1.UnsafeStreamServiceServer

	// Store is the database.
	Store *store.Store
}

// StartStream starts a stream, which makes its channel live.
func (s *Service) StartStream(ctx context.Context, req *platformv1.StartStreamRequest) (*platformv1.StartStreamResponse, error) {
	want, err := parseStart(req)
	if err != nil {
		return nil, err
	}
	var stored *ent.Stream
	respond := idempotency.Response(ctx, func() *platformv1.StartStreamResponse {
		return &platformv1.StartStreamResponse{Stream: streamRecord(stored)}
	})
	err = change.Apply(ctx, s.Store, want.ChannelID, func(ctx context.Context, c *change.Change) error {
		var err error
		stored, err = startStream(ctx, feed.InChange(c), c, req, *want)
		return err
	})
	if err != nil {
		return nil, err
	}
	return respond(), nil
}

func parseStart(req *platformv1.StartStreamRequest) (*ent.Stream, error) {
	f := validate.Of(req)
	s := &ent.Stream{
		ChannelID:     f.UUID("channelId", req.GetChannelId()),
		Title:         f.Text("title", req.GetTitle()),
		PreviewImgURL: f.URL("previewImgUrl", req.GetPreviewImgUrl()),
		ViewerCount:   f.Number("viewerCount", req.GetViewerCount()),
	}
	if req.GetLang() != "" {
		s.Lang = f.Language("lang", req.GetLang())
	}
	f.Time("startedAt", req.GetStartedAt())
	return s, f.Err()
}

// startStream makes a channel live with want, whose start is not set yet. If the request is
// a repeat, startStream returns the existing stream.
func startStream(ctx context.Context, tx feed.Tx, c *change.Change, req *platformv1.StartStreamRequest, want ent.Stream) (*ent.Stream, error) {
	channel, err := tx.Channel.Get(ctx, want.ChannelID)
	if err != nil {
		return nil, err
	}
	want.StartedAt = tx.OrNow(req.GetStartedAt())
	if req.GetStartedAt() == nil && channel.IsLive {
		want.StartedAt = *channel.LiveStartedAt
	}
	known, err := findStream(ctx, tx, want.ChannelID, want.StartedAt)
	if err != nil || known != nil {
		return known, err
	}
	if channel.IsLive {
		if want.StartedAt < *channel.LiveStartedAt {
			return nil, apierr.Invalid(apierr.Violation{
				Field: "startedAt", Description: "must not be before the start of the live stream, " + channel.LiveStartedAt.String(),
			})
		}
		if err := endStream(ctx, tx, c, channel, want.StartedAt); err != nil {
			return nil, err
		}
		channel.IsLive = false
	}
	if err := completeStream(ctx, tx, &want, nil, channel, req.CategoryId); err != nil {
		return nil, err
	}
	if err := storeStream(ctx, tx, nil, &want); err != nil {
		return nil, err
	}
	if err := goLive(ctx, tx, channel, &want); err != nil {
		return nil, err
	}
	return &want, emitStream(ctx, tx, c, "stream.online", &want)
}

// endStream ends the live stream of a channel.
func endStream(ctx context.Context, tx feed.Tx, c *change.Change, channel *ent.Channel, at instant.Instant) error {
	live, err := findStream(ctx, tx, channel.ID, *channel.LiveStartedAt)
	if err != nil {
		return err
	}
	live.EndedAt = &at
	if err := storeStream(ctx, tx, live, live); err != nil {
		return err
	}
	if err := goOffline(ctx, tx, channel); err != nil {
		return err
	}
	return emitStream(ctx, tx, c, "stream.offline", live)
}

func emitStream(ctx context.Context, tx feed.Tx, c *change.Change, kind eventtype.Type, s *ent.Stream) error {
	title := "Uncategorized"
	if s.CategoryID != 0 {
		category, err := tx.Category.Get(ctx, s.CategoryID)
		if err != nil {
			return err
		}
		title = category.Name
	}
	event := &moderatov1.StreamEvent{
		ChannelId:     c.ChannelID.String(),
		ClientId:      c.ClientID,
		StartedAt:     s.StartedAt.Proto(),
		Title:         s.Title,
		Lang:          s.Lang,
		CategoryId:    s.CategoryID,
		CategoryTitle: title,
		CreatedAt:     s.StartedAt.Proto(),
		Category:      &moderatov1.EventCategory{Id: s.CategoryID, Title: title, Name: title},
	}
	if s.EndedAt != nil {
		event.EndedAt = s.EndedAt.Proto()
		event.CreatedAt = event.GetEndedAt()
	}
	c.Emit(kind, uid.ID{}, event)
	return nil
}

// UpdateStream sets the fields of a live stream that change all the time: its viewer
// count and preview image.
func (s *Service) UpdateStream(ctx context.Context, req *platformv1.UpdateStreamRequest) (*platformv1.UpdateStreamResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	f.Number("viewerCount", req.GetViewerCount())
	f.URL("previewImgUrl", req.GetPreviewImgUrl())
	if req.ViewerCount == nil && req.PreviewImgUrl == nil {
		f.Add("viewerCount", "is required, or previewImgUrl instead")
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	var live *ent.Stream
	respond := idempotency.Response(ctx, func() *platformv1.UpdateStreamResponse {
		return &platformv1.UpdateStreamResponse{Stream: streamRecord(live)}
	})
	err := change.Apply(ctx, s.Store, channelID, func(ctx context.Context, c *change.Change) error {
		tx := feed.InChange(c)
		channel, err := tx.Channel.Get(ctx, channelID)
		if err != nil {
			return err
		}
		if !channel.IsLive {
			return apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_LIVE)
		}
		if live, err = findStream(ctx, tx, channelID, *channel.LiveStartedAt); err != nil {
			return err
		}
		if req.ViewerCount != nil {
			live.ViewerCount = req.GetViewerCount()
			c.ReportViewers(live.ViewerCount)
		}
		if req.PreviewImgUrl != nil {
			live.PreviewImgURL = req.GetPreviewImgUrl()
		}
		if err := storeStream(ctx, tx, live, live); err != nil {
			return err
		}
		return tx.Channel.UpdateOneID(channelID).SetViewerCount(live.ViewerCount).SetPreviewImgURL(live.PreviewImgURL).Exec(ctx)
	})
	if err != nil {
		return nil, err
	}
	return respond(), nil
}

// EndStream ends the live stream of a channel.
func (s *Service) EndStream(ctx context.Context, req *platformv1.EndStreamRequest) (*platformv1.EndStreamResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	meant, isNamed := f.Time("startedAt", req.GetStartedAt())
	f.Time("endedAt", req.GetEndedAt())
	if err := f.Err(); err != nil {
		return nil, err
	}
	err := change.Apply(ctx, s.Store, channelID, func(ctx context.Context, c *change.Change) error {
		tx := feed.InChange(c)
		channel, err := tx.Channel.Get(ctx, channelID)
		if err != nil || !channel.IsLive {
			return err
		}
		if isNamed && meant != *channel.LiveStartedAt {
			return nil
		}
		at := tx.OrNow(req.GetEndedAt())
		if at < *channel.LiveStartedAt {
			if req.GetEndedAt() != nil {
				return apierr.Invalid(apierr.Violation{
					Field: "endedAt", Description: "must not be before the start of the live stream, " + channel.LiveStartedAt.String(),
				})
			}
			at = *channel.LiveStartedAt // the stream has a start in the future
		}
		return endStream(ctx, tx, c, channel, at)
	})
	return &platformv1.EndStreamResponse{}, err
}
