// Package users finds users. A user who is being deleted has a row for a while, but no
// lookup may return it. Look up users with this package, which excludes such rows.
package users

import (
	"context"
	"fmt"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/user"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/store"
)

// Find returns the user with a key, or USER_NOT_FOUND.
func Find(ctx context.Context, q *ent.UserClient, key Key) (*ent.User, error) {
	if key.Slug != "" {
		return BySlug(ctx, q, key.Slug)
	}
	return Get(ctx, q, key.ID)
}

// Exists is the SQL condition that a row of the table users is not of a user who is being
// deleted.
const Exists = "deleted_at IS NULL"

// IsOfExisting is the SQL condition that a column has the id of a user of whom Exists is true. Of an
// EXISTS, MySQL would make a join, and may begin with the users.
func IsOfExisting(column string) string {
	return "(SELECT 1 FROM users e WHERE e.id = " + column + " AND e." + Exists + ") = 1"
}

// From returns the table u of users for a statement that searches several values of a column:
// the id or the slug. The statement searches the index of the column whatever the statistics of
// the database say, if it also has Exists. Otherwise the database may read all users, or lock
// them.
func From(d *store.Dialect, column string) string {
	if column == user.FieldSlug {
		return "users u" + d.ByIndex("user_slug")
	}
	return "users u" + d.ByPrimaryKey("users")
}

// Erased returns the SQL condition that a column is the id of a user who is being deleted,
// and whose rows may not be removed yet.
func Erased(column string) string {
	return "EXISTS (SELECT 1 FROM erasures e WHERE e.id = " + column + " AND e.is_user)"
}

// Deleted replaces the id of a deleted user where a row must have a user: for example as
// the creator of a clip or the moderator of a ban. A migration creates its row. The id is
// reserved.
var Deleted = uid.MustParse("5e1f8a0c-93d7-4b6e-a4c2-d07b3e9f6185")

// The names of Deleted. They have characters that are not allowed in usernames, so that
// no user can have them.
const (
	DeletedUsername    = "~deleted"
	DeletedDisplayName = "Deleted user"
)

// TemporaryName returns the username of a user who is being deleted. The name is unique
// and has a character that is not allowed in usernames.
func TemporaryName(id uid.ID) string { return fmt.Sprintf("~%x", id[:]) }

// Get returns the user with an id, or USER_NOT_FOUND.
func Get(ctx context.Context, q *ent.UserClient, id uid.ID) (*ent.User, error) {
	return existing(q.Query().Where(user.ID(id), user.DeletedAtIsNil()).Only(ctx))
}

// Hold is Get, and keeps the user from being deleted until the transaction ends. Use it
// to write rows that must not exist after the response to the deletion.
func Hold(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID) (*ent.User, error) {
	if err := lock(ctx, tx, id, s.ForShare()); err != nil {
		return nil, err
	}
	return Get(ctx, tx.User, id)
}

// Lock locks the row of a user, deleted or not, until the transaction ends.
func Lock(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID) error {
	return lock(ctx, tx, id, s.ForUpdate())
}

func lock(ctx context.Context, tx *ent.Tx, id uid.ID, how string) error {
	return store.QueryEach(ctx, tx, "SELECT id FROM users WHERE id = ?"+how, []any{id},
		func(scan func(...any) error) error { return scan(new(uid.ID)) })
}

// BySlug returns the user with a username in lower case, or USER_NOT_FOUND.
func BySlug(ctx context.Context, q *ent.UserClient, slug string) (*ent.User, error) {
	return existing(q.Query().Where(user.Slug(slug), user.DeletedAtIsNil()).Only(ctx))
}

func existing(u *ent.User, err error) (*ent.User, error) {
	if ent.IsNotFound(err) {
		return nil, unknown()
	}
	return u, err
}

func unknown() error { return apierr.New(moderatov1.Reason_REASON_USER_NOT_FOUND) }

// Person returns a user as events name them.
func Person(u *ent.User) *moderatov1.Person {
	return &moderatov1.Person{Id: u.ID.String(), Username: u.Username, DisplayName: u.DisplayName, AvatarUrl: u.AvatarURL}
}

// PersonColumns are the columns of a user, of the table with an alias, who may be missing.
func PersonColumns(alias string) string {
	return alias + ".id, COALESCE(" + alias + ".username, ''), COALESCE(" + alias + ".display_name, ''), COALESCE(" + alias + ".avatar_url, '')"
}

// ReadPerson reads PersonColumns; nil if the user is missing.
func ReadPerson(r *store.Row) *moderatov1.Person {
	id, p := r.OptionalID(), &moderatov1.Person{Username: r.Text(), DisplayName: r.Text(), AvatarUrl: r.Text()}
	if id == nil {
		return nil
	}
	p.Id = id.String()
	return p
}
