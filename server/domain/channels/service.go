// Package channels assembles ChannelsService: each of its operations is implemented in the
// package of its domain.
package channels

import (
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/domain/activity"
	"github.com/moderato-live/moderato/server/domain/audience"
	"github.com/moderato-live/moderato/server/domain/content"
	"github.com/moderato-live/moderato/server/domain/directory"
	"github.com/moderato-live/moderato/server/domain/livestream"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/server/store"
)

// The operations of each domain.
type (
	activityOperations   = activity.Service
	audienceOperations   = audience.Service
	contentOperations    = content.Service
	directoryOperations  = directory.Service
	livestreamOperations = livestream.Service
	moderationOperations = moderation.Service
)

// Service serves ChannelsService.
type Service struct {
	moderatov1.UnsafeChannelsServiceServer

	// Store is the database.
	Store *store.Store

	*activityOperations
	*audienceOperations
	*contentOperations
	*directoryOperations
	*livestreamOperations
	*moderationOperations
}

// New returns the Service that consists of the operations of the domains. Package domains
// calls it with the domains of a server.
func New(
	s *store.Store, ac *activity.Service, au *audience.Service, co *content.Service,
	di *directory.Service, li *livestream.Service, mo *moderation.Service,
) *Service {
	return &Service{
		Store:                s,
		activityOperations:   ac,
		audienceOperations:   au,
		contentOperations:    co,
		directoryOperations:  di,
		livestreamOperations: li,
		moderationOperations: mo,
	}
}
