// Package channels serves ChannelsService: the properties, content and statistics of
// channels, and the people in them.
package channels

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/authn"
	"github.com/moderato-live/moderato/server/authz"
	"github.com/moderato-live/moderato/server/paging"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/validate"
)

// Bounds of page sizes.
const (
	defaultLimit = 20
	maxRows      = 20  // for channels, clips and VODs
	maxPeople    = 100 // for other lists
)

// Service serves ChannelsService.
type Service struct {
	moderatov1.UnsafeChannelsServiceServer

	// Store is the database.
	Store *store.Store
	// Lists holds the limits that all complete lists share.
	Lists *paging.Lists
}

// authorizedChannel reads channelId in a request about the authorized channel. A caller
// that acts for a user may omit it, which means the user's own channel. Any other caller
// must name a channel. Call authorize with the returned id after the rest of the request
// is checked.
func authorizedChannel(ctx context.Context, f *validate.Fields, channelID string) uid.ID {
	caller := authn.FromContext(ctx)
	if !caller.ActsAsUser() {
		return f.UUID("channelId", channelID)
	}
	if named := f.OptionalUUID("channelId", channelID); !named.IsZero() {
		return named
	}
	return caller.UserID
}

// authorize rejects a caller that acts for a user other than the channel's owner.
func authorize(ctx context.Context, channelID uid.ID) error {
	return authz.AuthorizeChannel(ctx, channelID)
}

// ownChannel reads and authorizes the channel of a request that has no other
// fields to check.
func ownChannel(ctx context.Context, channelID string) (uid.ID, error) {
	var f validate.Fields
	id := authorizedChannel(ctx, &f, channelID)
	if err := f.Err(); err != nil {
		return uid.ID{}, err
	}
	return id, authorize(ctx, id)
}

// channel reads a channel's row. A missing row is CHANNEL_NOT_FOUND.
func (s *Service) channel(ctx context.Context, id uid.ID) (*ent.Channel, error) {
	row, err := s.Store.Read.Channel.Get(ctx, id)
	if ent.IsNotFound(err) {
		return nil, apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)
	}
	return row, s.Store.Classify(err)
}
