// Package users finds users. One who is being deleted has a row for a while, and
// exists for nobody: whoever looks for a user looks here.
package users

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/user"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/fault"
	"github.com/moderato-live/moderato/server/uid"
)

// Exists is the condition of SQL that a row of the table users is of a user who
// is not being deleted.
const Exists = "deleted_at IS NULL"

// Deleted stands where a deleted user stood and somebody must: who made a clip,
// who banned. A migration makes its row.
var Deleted = uid.MustParse("00000000-0000-4000-8000-000000000000")

// The names of Deleted.
const (
	DeletedUsername    = "-deleted-"
	DeletedDisplayName = "Deleted user"
)

// Get is the user with an id; unknown: USER_NOT_FOUND.
func Get(ctx context.Context, q *ent.UserClient, id uid.ID) (*ent.User, error) {
	return existing(q.Query().Where(user.ID(id), user.DeletedAtIsNil()).Only(ctx))
}

// BySlug is the user with a username in lower case; unknown: USER_NOT_FOUND.
func BySlug(ctx context.Context, q *ent.UserClient, slug string) (*ent.User, error) {
	return existing(q.Query().Where(user.Slug(slug), user.DeletedAtIsNil()).Only(ctx))
}

func existing(u *ent.User, err error) (*ent.User, error) {
	if ent.IsNotFound(err) {
		return nil, fault.New(moderatov1.Reason_REASON_USER_NOT_FOUND)
	}
	return u, err
}
