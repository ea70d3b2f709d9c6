package oauth

import (
	"context"
	"crypto/subtle"
	"regexp"
	"slices"
	"strings"

	"github.com/zitadel/oidc/v3/pkg/oidc"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

// Client is a client as OAuth sees it.
type Client struct {
	// ID and Name are the id and the display name.
	ID, Name string
	// Scopes are the scopes for which the client may ask.
	Scopes []string
	// IsPublic is whether the client has no secret.
	IsPublic bool
	// IsService is whether the client is one of the platform's own backends.
	IsService bool

	redirectURIs []string
	// secrets are the secrets that are accepted now: after a rotation, for a time, two.
	secrets []digest.SHA256
}

// Client returns the client with an id, or nil if there is none.
func (s *Service) Client(ctx context.Context, id string) (*Client, error) {
	f := validate.Of(&platformv1.GetClientRequest{})
	if f.Identifier("clientId", id); f.Err() != nil {
		return nil, nil //nolint:nilerr,nilnil // no client can have this id
	}
	row, err := s.Store.Read.Application.Get(ctx, id)
	if ent.IsNotFound(err) {
		return nil, nil //nolint:nilnil // there is none
	}
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	accepted, err := s.secrets(ctx, row)
	if err != nil {
		return nil, err
	}
	return &Client{
		ID: row.ID, Name: row.Name, Scopes: strings.Fields(row.Scopes), IsPublic: row.Public, IsService: row.Service,
		redirectURIs: strings.Fields(row.RedirectUris), secrets: accepted,
	}, nil
}

// secrets returns the secrets of a client that are accepted now.
func (s *Service) secrets(ctx context.Context, row *ent.Application) ([]digest.SHA256, error) {
	if row.Secret == nil {
		return nil, nil
	}
	accepted := []digest.SHA256{*row.Secret}
	if row.PreviousSecret == nil || row.PreviousSecretUntil == nil {
		return accepted, nil
	}
	now, err := s.Store.Clock.Now(ctx, s.Store.Read)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	if now < *row.PreviousSecretUntil {
		accepted = append(accepted, *row.PreviousSecret)
	}
	return accepted, nil
}

// noSecret is what secrets are compared with if the client has none, or does not exist.
var noSecret = digest.Of("")

// Authenticate returns the client with an id and a secret. A public client has no secret.
// The comparison takes the same time whether the client exists or not.
func (s *Service) Authenticate(ctx context.Context, id, secret string) (*Client, error) {
	c, err := s.Client(ctx, id)
	if err != nil {
		return nil, err
	}
	// There are always two comparisons.
	stored := [2]digest.SHA256{noSecret, noSecret}
	hasSecret := c != nil && copy(stored[:], c.secrets) > 0
	given, equal := digest.Of(secret), 0
	for _, accepted := range stored {
		equal |= subtle.ConstantTimeCompare(given[:], accepted[:])
	}
	if c != nil && (c.IsPublic && secret == "" || !c.IsPublic && hasSecret && secret != "" && equal == 1) {
		return c, nil
	}
	return nil, oidc.ErrInvalidClient().WithDescription("the client is unknown, or its secret is wrong")
}

// HasRedirectURI reports whether the client may send browsers to a URI. It compares the
// text, but ignores the port of a loopback address, because a program that waits for its
// user there cannot choose the port (RFC 8252, section 7.3).
func (c *Client) HasRedirectURI(uri string) bool {
	if uri == "" || strings.ContainsAny(uri, " \t\r\n#") {
		return false
	}
	portless, isLoopback := withoutPort(uri)
	return slices.ContainsFunc(c.redirectURIs, func(registered string) bool {
		if registered == uri {
			return true
		}
		p, ok := withoutPort(registered)
		return ok && isLoopback && p == portless
	})
}

var loopback = regexp.MustCompile(`^(http://(?:127\.0\.0\.1|\[::1\]))(?::[0-9]{1,5})?((?:[/?].*)?)$`)

// withoutPort returns a URI without its port, and whether it is an http URI on a loopback
// address.
func withoutPort(uri string) (portless string, ok bool) {
	m := loopback.FindStringSubmatch(uri)
	if m == nil {
		return "", false
	}
	return m[1] + m[2], true
}

// CheckScopes returns the scopes for which a client asks, sorted, or an error if it may not
// ask for one of them.
func (c *Client) CheckScopes(scopes []string) ([]string, error) {
	asked := normal(scopes)
	if len(asked) == 0 {
		return nil, oidc.ErrInvalidScope().WithDescription("scope is required")
	}
	for _, scope := range asked {
		if !slices.Contains(c.Scopes, scope) {
			return nil, oidc.ErrInvalidScope().WithDescription("the client may not ask for a scope that is not among: %s", strings.Join(c.Scopes, " "))
		}
	}
	return asked, nil
}
