package chain

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/moderato-live/moderato/server/auth"
	"github.com/moderato-live/moderato/server/fair"
	"github.com/moderato-live/moderato/server/paging"
	"github.com/moderato-live/moderato/server/policy"
	"github.com/moderato-live/moderato/server/requestid"
)

// call is one call on its way through the chain, and the context in which its
// method runs: what the chain finds out is in one value, and not in a context
// around another for each.
type call struct {
	context.Context //nolint:containedctx // it is one
	*Chain

	transport    Transport // nil: gRPC's own
	method, face string
	start        time.Time
	requestID    string
	caller       *auth.Caller
	policy       policy.Decision
	request      fair.Request
	// continues: the call sends more of a list, on behalf of a request that was counted
	// with its first rows.
	continues bool
}

// Value answers what the packages look for that read a call's context.
func (c *call) Value(key any) any {
	switch key.(type) {
	case requestid.ContextKey:
		return c.requestID
	case auth.ContextKey:
		return c.caller
	case policy.ContextKey:
		return &c.policy
	case fair.ContextKey:
		return &c.request
	}
	return c.Context.Value(key)
}

// Transport is the transport of a call that came over REST.
type Transport interface {
	grpc.ServerTransportStream
	// Sent are the values of a key of the metadata that came with the call. They are
	// not to be changed.
	Sent(key string) []string
}

// begin takes a call up, which has its id from then on.
func (c *Chain) begin(ctx context.Context, method string) *call {
	call := &call{Context: ctx, Chain: c, method: method, face: "grpc", start: time.Now()}
	if t, ok := grpc.ServerTransportStreamFromContext(ctx).(Transport); ok {
		call.transport, call.face = t, "rest"
	}
	call.continues = call.transport != nil && paging.IsContinuation(ctx)
	call.requestID = requestid.Accept(call.sent(requestid.MetadataKey))
	return call
}

// sent are the values of a key of the metadata that came with the call. Of those
// that came over gRPC this is a copy, for which one key at a time is enough.
func (c *call) sent(key string) []string {
	if c.transport != nil {
		return c.transport.Sent(key)
	}
	return metadata.ValueFromIncomingContext(c.Context, key)
}
