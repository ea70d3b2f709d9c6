package users

import (
	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/uid"
)

// Key is what a user is found by: their id or, in lower case, their username. The
// zero Key is nobody's.
type Key struct {
	ID   uid.ID
	Slug string
}

// Joined is a user who is read together with other rows, in the same statement;
// there may be none.
type Joined struct {
	id                                     *uid.ID
	username, slug, displayName, avatarURL *string
	createdAt                              *instant.Instant
}

// Join is what joins the user with a key to the rows of a statement, as u.
func (k Key) Join() (sql string, args []any) {
	if k.Slug != "" {
		return " LEFT JOIN users u ON u.slug = ? AND u." + Exists, []any{k.Slug}
	}
	return " LEFT JOIN users u ON u.id = ? AND u." + Exists, []any{k.ID}
}

// JoinedColumns are the columns of u, in the order of Fields.
const JoinedColumns = "u.id, u.username, u.slug, u.display_name, u.avatar_url, u.created_at"

// Fields are where JoinedColumns are read to.
func (j *Joined) Fields() []any {
	return []any{&j.id, &j.username, &j.slug, &j.displayName, &j.avatarURL, &j.createdAt}
}

// User is the user; unknown: USER_NOT_FOUND.
func (j *Joined) User() (*ent.User, error) {
	if j.id == nil {
		return nil, unknown()
	}
	return &ent.User{
		ID: *j.id, Username: *j.username, Slug: *j.slug, DisplayName: *j.displayName, AvatarURL: *j.avatarURL, CreatedAt: *j.createdAt,
	}, nil
}
