package tracing

import (
	"context"
	"encoding/binary"
	"math/rand/v2"

	"go.opentelemetry.io/otel/trace"
)

// ids makes the ids of traces and spans. A new trace gets the id for which the sampler
// chose the call, so that the sampler chooses the call again.
type ids struct{}

// NewIDs returns the ids of a new trace and of its first span.
func (ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	id, ok := ctx.Value(traceIDKey{}).(trace.TraceID)
	if !ok {
		id = newTraceID()
	}
	return id, newSpanID()
}

// NewSpanID returns the id of a new span in a trace.
func (ids) NewSpanID(context.Context, trace.TraceID) trace.SpanID { return newSpanID() }

type traceIDKey struct{}

// withTraceID returns a context in which a new trace gets an id.
func withTraceID(ctx context.Context, id trace.TraceID) context.Context {
	return context.WithValue(ctx, traceIDKey{}, id)
}

// newTraceID returns a random id, which is not zero.
func newTraceID() (id trace.TraceID) {
	binary.BigEndian.PutUint64(id[:8], rand.Uint64()|1)
	binary.BigEndian.PutUint64(id[8:], rand.Uint64())
	return id
}

// newSpanID returns a random id, which is not zero.
func newSpanID() (id trace.SpanID) {
	binary.BigEndian.PutUint64(id[:], rand.Uint64())
	if !id.IsValid() {
		id[0] = 1
	}
	return id
}
