package users

import (
	"strings"

	"github.com/moderato-live/moderato/server/rpc/validate"
)

// Names is the start of a username or display name that a request looks for, in lower case. The
// empty text is the start of every name.
//
// Names are compared here and not by the database, so that every database finds the same
// users, and every letter is compared ignoring case.
type Names string

// ParseNames reads the field query of a request.
func ParseNames(f *validate.Fields, query string) Names {
	return Names(strings.ToLower(f.Text("query", query)))
}

// Match reports whether one of a user's names starts with the text.
func (n Names) Match(slug, displayName string) bool {
	return strings.HasPrefix(slug, string(n)) || strings.HasPrefix(strings.ToLower(displayName), string(n))
}
