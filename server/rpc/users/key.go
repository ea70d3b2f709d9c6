package users

import (
	"strings"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

// Key identifies a user by id or, in lower case, by username. The zero Key matches no
// user.
type Key struct {
	ID   uid.ID
	Slug string
}

// ParseKey reads the user whom a request names in one of two fields, one for the id and one
// for the username. A request must have exactly one of them. A username may have a leading
// @, as in chat.
func ParseKey(f *validate.Fields, idField, id, nameField, name string) Key {
	switch {
	case id == "" && name == "":
		f.Add(idField, "is required, or "+nameField+" instead")
	case id != "" && name != "":
		f.Exclude(idField, nameField)
	case id != "":
		return Key{ID: f.UUID(idField, id)}
	default:
		return Key{Slug: strings.ToLower(f.Mention(nameField, name))}
	}
	return Key{}
}
