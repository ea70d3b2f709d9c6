package moderation

import (
	"context"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/event/standings"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

// GetPropagation reports how many chat servers have applied a change of a channel.
func (s *Service) GetPropagation(ctx context.Context, req *moderatov1.GetPropagationRequest) (*moderatov1.GetPropagationResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	upTo, err := outbox.ParseCursor(ctx, s.Store, req.GetCursor())
	if err != nil {
		return nil, err
	}
	if err := listing.AuthorizeModerator(ctx, s.Store, channelID); err != nil {
		return nil, err
	}
	p, err := standings.ReadPropagation(ctx, s.Store, channelID, upTo)
	return &moderatov1.GetPropagationResponse{
		SubscriberCount: int32(p.Subscribers), AppliedCount: int32(p.Applied), SlowestMilliseconds: p.Slowest,
	}, err
}
