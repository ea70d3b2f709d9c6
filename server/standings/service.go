// Package standings streams to chat servers what decides about posts, so that they need
// not ask for each user, and reports what they have applied.
package standings

import (
	"context"

	"google.golang.org/grpc"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
)

// Service serves the operations about standings.
type Service struct{}

// WatchStandings streams standings to a chat server.
func (s *Service) WatchStandings(grpc.BidiStreamingServer[platformv1.WatchStandingsRequest, platformv1.WatchStandingsResponse]) error {
	return apierr.New(moderatov1.Reason_REASON_UNAVAILABLE)
}

// GetPropagation reports how many chat servers have applied a change.
func (s *Service) GetPropagation(context.Context, *moderatov1.GetPropagationRequest) (*moderatov1.GetPropagationResponse, error) {
	return nil, apierr.New(moderatov1.Reason_REASON_UNAVAILABLE)
}
