// Package moderation serves ModerationService: a channel's moderators, bans and
// mutes.
package moderation

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/user"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/fault"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

// Service serves ModerationService.
type Service struct {
	moderatov1.UnsafeModerationServiceServer

	// Store is the database.
	Store *store.Store
	// MaxResults is the longest list that is answered without paging.
	MaxResults int
}

// userByID finds a user whom an argument names, in the transaction of a change.
func userByID(ctx context.Context, tx *ent.Tx, id uid.ID) (*ent.User, error) {
	return existing(tx.User.Get(ctx, id))
}

func userBySlug(ctx context.Context, tx *ent.Tx, slug string) (*ent.User, error) {
	return existing(tx.User.Query().Where(user.Slug(slug)).Only(ctx))
}

func existing(u *ent.User, err error) (*ent.User, error) {
	if ent.IsNotFound(err) {
		return nil, fault.New(moderatov1.Reason_REASON_USER_NOT_FOUND)
	}
	return u, err
}
