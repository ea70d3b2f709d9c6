package users

import (
	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/uid"
)

// Key identifies a user by id or, in lower case, by username. The zero Key matches no
// user.
type Key struct {
	ID   uid.ID
	Slug string
}

// Joined holds the columns of a user that a statement reads together with other rows. The
// fields are nil if there is no such user.
type Joined struct {
	id                                     *uid.ID
	username, slug, displayName, avatarURL *string
	createdAt                              *instant.Instant
}

// Join returns a LEFT JOIN that adds the user with the key, as u, to the rows of a
// statement, with its arguments.
func (k Key) Join() (sql string, args []any) {
	if k.Slug != "" {
		return " LEFT JOIN users u ON u.slug = ? AND u." + Exists, []any{k.Slug}
	}
	return " LEFT JOIN users u ON u.id = ? AND u." + Exists, []any{k.ID}
}

// JoinedColumns lists the columns of u, in the order of Fields.
const JoinedColumns = "u.id, u.username, u.slug, u.display_name, u.avatar_url, u.created_at"

// Fields returns the destinations into which JoinedColumns are scanned.
func (j *Joined) Fields() []any {
	return []any{&j.id, &j.username, &j.slug, &j.displayName, &j.avatarURL, &j.createdAt}
}

// More is what a statement that reads a user as u reads beside the user.
type More struct {
	Columns    string // begins with a comma
	ColumnArgs []any
	Join       string
	JoinArgs   []any
	Fields     []any // the destinations into which Columns are scanned
}

// User returns the user, or USER_NOT_FOUND. It sets only the fields in JoinedColumns.
func (j *Joined) User() (*ent.User, error) {
	if j.id == nil {
		return nil, unknown()
	}
	return &ent.User{
		ID: *j.id, Username: *j.username, Slug: *j.slug, DisplayName: *j.displayName, AvatarURL: *j.avatarURL, CreatedAt: *j.createdAt,
	}, nil
}
