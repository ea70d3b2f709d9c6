// Package listing holds what the lists of a channel have in common: the channel that a
// request is about, page sizes, and places in a list.
package listing

import (
	"context"
	"errors"
	"math"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/channel"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// AuthorizedChannel reads channelId in a request about the authorized channel. A caller
// that acts for a user may omit it, which means the user's own channel. Any other caller
// must name a channel. Call Authorize with the returned id after the rest of the request
// is checked.
func AuthorizedChannel(ctx context.Context, f *validate.Fields, channelID string) uid.ID {
	caller := authn.FromContext(ctx)
	if !caller.ActsAsUser() {
		return f.UUID("channelId", channelID)
	}
	if named := f.OptionalUUID("channelId", channelID); !named.IsZero() {
		return named
	}
	return caller.UserID
}

// Authorize rejects a caller that acts for a user other than the channel's owner.
func Authorize(ctx context.Context, channelID uid.ID) error {
	return authz.AuthorizeChannel(ctx, channelID)
}

// OwnChannel reads and authorizes the channel of a request that has no other
// fields to check.
func OwnChannel(ctx context.Context, channelID string) (uid.ID, error) {
	var f validate.Fields
	id := AuthorizedChannel(ctx, &f, channelID)
	if err := f.Err(); err != nil {
		return uid.ID{}, err
	}
	return id, Authorize(ctx, id)
}

// TimePlace is a place in a list that is sorted by time, newest first. The list
// continues after the row with this instant and id.
type TimePlace struct {
	At instant.Instant
	ID uid.ID
}

// Start returns the place before every row.
func Start() TimePlace { return TimePlace{At: math.MaxInt64} }

// ChannelExists is the SQL condition that a channel exists. Its argument is the channel's id.
// The page of a list has it, so that the list of a deleted channel is empty.
const ChannelExists = "EXISTS (SELECT 1 FROM channels WHERE id = ?)"

// CheckChannel returns CHANNEL_NOT_FOUND unless a channel with this id exists. Rows that
// belong to a channel do not prove that it exists: those of a deleted channel are removed
// later.
func CheckChannel(ctx context.Context, s *store.Store, id uid.ID) error {
	exists, err := s.Read.Channel.Query().Where(channel.ID(id)).Exist(ctx)
	if err == nil && !exists {
		return apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)
	}
	return s.Classify(err)
}

// AuthorizeModerator refuses a caller who may not read what moderators see of a channel, and
// returns CHANNEL_NOT_FOUND unless the channel exists.
func AuthorizeModerator(ctx context.Context, s *store.Store, channelID uid.ID) error {
	if err := authz.AuthorizeModerator(ctx, s, channelID); err != nil {
		return err
	}
	return CheckChannel(ctx, s, channelID)
}

// GetChannel returns a channel's row. A missing row is CHANNEL_NOT_FOUND.
func GetChannel(ctx context.Context, s *store.Store, id uid.ID) (*ent.Channel, error) {
	row, err := s.Read.Channel.Get(ctx, id)
	if ent.IsNotFound(err) {
		return nil, apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)
	}
	return row, s.Classify(err)
}

// Classify returns the API error for an error of a query for a channel's row. A missing
// row is CHANNEL_NOT_FOUND.
func Classify(s *store.Store, err error) error {
	if errors.Is(err, store.ErrNoRows) {
		return apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)
	}
	return s.Classify(err)
}
