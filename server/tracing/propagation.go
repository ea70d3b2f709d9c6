package tracing

import (
	"strings"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// The headers of the W3C trace context, and over gRPC the keys of its metadata.
const (
	TraceparentKey = "traceparent"
	TracestateKey  = "tracestate"
)

// incoming is what a caller sent, by key.
type incoming func(key string) []string

// Get returns the value of a key. A list that is sent in several headers is one list. A
// traceparent that is sent twice is thus not valid.
func (i incoming) Get(key string) string { return strings.Join(i(key), ",") }

// Set does nothing: what a caller sent does not change.
func (incoming) Set(string, string) {}

// Keys returns no keys: the propagator knows those that it reads.
func (incoming) Keys() []string { return nil }

var _ propagation.TextMapCarrier = incoming(nil)

// traceparent returns the header of a sampled span.
func traceparent(at trace.SpanContext) string {
	return "00-" + at.TraceID().String() + "-" + at.SpanID().String() + "-01"
}
