package authn

import (
	"context"
	"slices"

	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
)

// Caller is the caller of a request, as identified by the token and the client id.
type Caller struct {
	// Kind is the kind of the token.
	Kind Kind
	// ClientID is the client to which the token was issued.
	ClientID string
	// UserID is the user for whom the caller acts: the user of a user token, or the
	// acting user of a service token. It is zero if the caller acts for no user.
	UserID uid.ID
	// Token is the digest of the token.
	Token digest.SHA256
	// ExpiresAt is when the token expires; nil if it does not expire.
	ExpiresAt *instant.Instant

	scopes []string
}

// NewCaller returns a caller with scopes, as if it had come with a token that has them. It
// is for tests.
func NewCaller(kind Kind, userID uid.ID, scopes ...string) *Caller {
	return &Caller{Kind: kind, UserID: userID, scopes: scopes}
}

// ActsAsUser reports whether the caller acts for a user.
func (c *Caller) ActsAsUser() bool { return !c.UserID.IsZero() }

// Scopes returns the scopes of the token, sorted. A service token has all scopes.
func (c *Caller) Scopes() []string {
	if c.Kind == Service {
		return slices.Sorted(slices.Values(Scopes()))
	}
	return slices.Sorted(slices.Values(c.scopes))
}

// HasScope reports whether the token has a scope. A service token has all scopes.
func (c *Caller) HasScope(scope string) bool {
	return c.Kind == Service || slices.Contains(c.scopes, scope)
}

// IsAccepted reports whether an operation that accepts the given kinds accepts this
// caller. A caller is accepted by the kind of its token. A service token is also
// accepted as User if it acts for a user, and as App if it acts for none.
func (c *Caller) IsAccepted(kinds []Kind) bool {
	switch {
	case slices.Contains(kinds, c.Kind):
		return true
	case c.Kind == Service && c.ActsAsUser():
		return slices.Contains(kinds, User)
	case c.Kind == Service:
		return slices.Contains(kinds, App)
	}
	return false
}

// ContextKey is the key under which the context of a request holds its *Caller.
type ContextKey struct{}

// NewContext returns a context that holds the caller.
func NewContext(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, ContextKey{}, c)
}

// FromContext returns the caller of the request of ctx, or nil if there is none.
func FromContext(ctx context.Context) *Caller {
	c, _ := ctx.Value(ContextKey{}).(*Caller)
	return c
}
