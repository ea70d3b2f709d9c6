package fair

import (
	"context"
	"time"

	"github.com/moderato-live/moderato/internal/uid"
)

// Owner is the party on whose behalf a request is made: a client, and the user for whom
// the client acts, if any. The zero Owner is the server itself.
type Owner struct {
	Client string
	User   uid.ID
}

// Strangers is the owner of the work for all callers without credentials. No client has such an
// id.
var Strangers = Owner{Client: "(without credentials)"}

// Request describes a request for a slot.
type Request struct {
	Owner Owner
	// Priority is the priority of the request.
	Priority Priority
	// MaxWait is the longest time that the request may wait; 0 means until its context
	// ends.
	MaxWait time.Duration
}

// ContextKey is the context key of the *Request.
type ContextKey struct{}

// NewContext returns a context that carries a request.
func NewContext(ctx context.Context, r Request) context.Context {
	return context.WithValue(ctx, ContextKey{}, &r)
}

// SetOwner changes the owner of the request of a context, once it is known better.
func SetOwner(ctx context.Context, o Owner) {
	if r, ok := ctx.Value(ContextKey{}).(*Request); ok {
		r.Owner = o
	}
}

// WithPriority returns a context whose request has the given priority.
func WithPriority(ctx context.Context, p Priority) context.Context {
	r := FromContext(ctx)
	r.Priority = p
	return NewContext(ctx, r)
}

// FromContext returns the request of a context. A context without a request is work of
// the server itself, which waits until the context ends.
func FromContext(ctx context.Context) Request {
	if r, ok := ctx.Value(ContextKey{}).(*Request); ok {
		return *r
	}
	return Request{}
}
