package fair

import (
	"context"
	"time"

	"github.com/moderato-live/moderato/server/uid"
)

// Owner is on whose behalf something is done: a client, and the user for whom it
// acts, if any. The zero Owner is the server itself.
type Owner struct {
	Client string
	User   uid.ID
}

// Request is what a gate needs to know of a request.
type Request struct {
	Owner Owner
	// Priority is how urgent it is.
	Priority Priority
	// MaxWait is the longest that it may wait; 0 is as long as its context lasts.
	MaxWait time.Duration
}

// ContextKey is the key under which the context of a request has its *Request.
type ContextKey struct{}

// NewContext returns a context with a request in it.
func NewContext(ctx context.Context, r Request) context.Context {
	return context.WithValue(ctx, ContextKey{}, &r)
}

// WithPriority returns a context in which the present request has a priority.
func WithPriority(ctx context.Context, p Priority) context.Context {
	r := FromContext(ctx)
	r.Priority = p
	return NewContext(ctx, r)
}

// FromContext returns the present request. Work that nobody requested is the
// server's own, and waits as long as its context lasts.
func FromContext(ctx context.Context) Request {
	if r, ok := ctx.Value(ContextKey{}).(*Request); ok {
		return *r
	}
	return Request{}
}
