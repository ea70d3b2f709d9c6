package auth

import (
	"context"
	"slices"

	"github.com/moderato-live/moderato/server/digest"
	"github.com/moderato-live/moderato/server/uid"
)

// Caller is who makes a request, as the token and the client id show it.
type Caller struct {
	// Kind is the token's.
	Kind Kind
	// ClientID is the client to which the token was issued.
	ClientID string
	// UserID is for whom the caller acts: the user of a user token, or the acting
	// user of a service token. Zero when the caller acts for no user.
	UserID uid.ID
	// Token is the digest of the token.
	Token digest.SHA256

	scopes []string
}

// ActsAsUser tells whether the caller speaks for a user.
func (c *Caller) ActsAsUser() bool { return !c.UserID.IsZero() }

// HasScope tells whether the token has a scope. A service token has all.
func (c *Caller) HasScope(scope string) bool {
	return c.Kind == Service || slices.Contains(c.scopes, scope)
}

// IsAccepted tells whether an operation that takes the given kinds takes this
// caller: by its token's kind, a service token as the user for whom it acts, and
// a service token alone where an app token may read.
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

// ContextKey is under what the context of a request has its caller, a *Caller.
type ContextKey struct{}

// NewContext is a context with the caller in it.
func NewContext(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, ContextKey{}, c)
}

// FromContext is the caller of the present request; nil where nobody called.
func FromContext(ctx context.Context) *Caller {
	c, _ := ctx.Value(ContextKey{}).(*Caller)
	return c
}
