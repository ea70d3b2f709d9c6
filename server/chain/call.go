package chain

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"github.com/moderato-live/moderato/server/auth"
	"github.com/moderato-live/moderato/server/policy"
	"github.com/moderato-live/moderato/server/requestid"
)

// call is one call on its way through the chain, and the context in which its
// method runs: what the chain finds out is in one value, and not in a context
// around another for each.
type call struct {
	context.Context //nolint:containedctx // it is one
	*Chain

	method, face string
	start        time.Time
	requestID    string
	caller       *auth.Caller
	rule         policy.Rule
}

// Value answers what the packages look for that read a call's context.
func (c *call) Value(key any) any {
	switch key.(type) {
	case requestid.ContextKey:
		return c.requestID
	case auth.ContextKey:
		return c.caller
	case policy.ContextKey:
		return &c.rule
	}
	return c.Context.Value(key)
}

// Transport is the transport of a call that did not come over gRPC: it tells over
// which face it came.
type Transport interface {
	grpc.ServerTransportStream
	Face() string
}

func faceOf(ctx context.Context) string {
	if t, ok := grpc.ServerTransportStreamFromContext(ctx).(Transport); ok {
		return t.Face()
	}
	return "grpc"
}
