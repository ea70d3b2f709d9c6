package middleware

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/moderato-live/moderato/internal/fair"
	"github.com/moderato-live/moderato/internal/requestid"
	"github.com/moderato-live/moderato/internal/tracing"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
)

// call is the state of one call in the chain. It is also the context in which the
// method runs: one context holds all results of the chain, instead of a nested context
// for each.
type call struct {
	context.Context //nolint:containedctx // it is one
	*Chain

	stream            Transport // nil for a call over gRPC
	method, transport string    // transport is "rest" or "grpc"
	start             time.Time
	requestID         string
	caller            *authn.Caller
	policy            authz.Decision
	request           fair.Request
	// isReplay is true if the response is that of an earlier call with the same
	// idempotency key.
	isReplay bool
}

// Value returns the values that other packages look up in the context of a call.
func (c *call) Value(key any) any {
	switch key.(type) {
	case requestid.ContextKey:
		return c.requestID
	case authn.ContextKey:
		return c.caller
	case authz.ContextKey:
		return &c.policy
	case fair.ContextKey:
		return &c.request
	}
	return c.Context.Value(key)
}

// Transport is the transport of a call over REST.
type Transport interface {
	grpc.ServerTransportStream
	// Sent returns the values of a key of the call's metadata. The caller must not
	// modify them.
	Sent(key string) []string
	// Address returns the address of the client.
	Address() string
}

// begin returns the state of a new call, with its request id.
func (c *Chain) begin(ctx context.Context, method string) *call {
	call := &call{Context: ctx, Chain: c, method: method, transport: "grpc", start: time.Now()}
	if t, ok := grpc.ServerTransportStreamFromContext(ctx).(Transport); ok {
		call.stream, call.transport = t, "rest"
	}
	call.requestID = requestid.Accept(call.sent(requestid.MetadataKey))
	tracing.Describe(ctx, "moderato.request_id", call.requestID)
	return call
}

// address returns the address of the client; empty if there is no network.
func (c *call) address() string {
	if c.stream != nil {
		return c.stream.Address()
	}
	if p, ok := peer.FromContext(c.Context); ok && p.Addr != nil {
		return p.Addr.String()
	}
	return ""
}

// sent returns the values of a key of the call's metadata. For a call over gRPC it
// copies the values of this key only.
func (c *call) sent(key string) []string {
	if c.stream != nil {
		return c.stream.Sent(key)
	}
	return metadata.ValueFromIncomingContext(c.Context, key)
}
