// Package authn authenticates callers. It holds tokens, clients, and the caller of a
// request.
package authn

import (
	"errors"

	"github.com/moderato-live/moderato/internal/secrets"
)

// Kind is a kind of token.
type Kind string

// The kinds of token, each with its prefix.
const (
	User    Kind = "user"    // acts as a signed-in user
	App     Kind = "app"     // acts as the application
	Service Kind = "service" // one of the platform's own backends
)

var prefixes = map[Kind]string{User: "mdu_", App: "mda_", Service: "mds_"}

// Scopes that a token can have.
const (
	UsersRead       = "users.read"
	ChannelModerate = "channel.moderate"
	OfflineAccess   = "offline.access" // a refresh token
	UsersBot        = "users.bot"      // chat in the user's name
)

// Scopes returns all scopes.
func Scopes() []string { return []string{UsersRead, ChannelModerate, OfflineAccess, UsersBot} }

// Prefixes of the secrets that are no access tokens. They have the form of tokens, and are
// stored as their SHA-256 too.
const (
	RefreshToken = "mdr_"
	ClientSecret = "mdc_"
	DeviceCode   = "mdd_"
	Ticket       = "mdt_"
)

var errDamaged = errors.New("not an access token")

// NewText returns the text of a new access token of a kind.
func NewText(kind Kind) (string, error) { return secrets.New(prefixes[kind]) }

// checkToken returns an error if a text does not have the form of a token. It runs on
// every call.
func checkToken(text string) error {
	if len(text) < secrets.PrefixLength || !isPrefix(text[:secrets.PrefixLength]) || !secrets.IsWhole(text) {
		return errDamaged
	}
	return nil
}

func isPrefix(text string) bool {
	return text == prefixes[User] || text == prefixes[App] || text == prefixes[Service]
}
