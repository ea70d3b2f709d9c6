package tracing

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// TraceparentKey is the header of the W3C trace context.
const TraceparentKey = "traceparent"

// Kept returns the sampled span of ctx in the form in which events keep it, which is that
// of the header traceparent; empty if there is none. Events do not keep the tracestate:
// it would tell the receivers of webhooks what the caller's tools wrote for each other.
func (t *Tracer) Kept(ctx context.Context) string {
	if t == nil || !trace.SpanContextFromContext(ctx).IsSampled() {
		return ""
	}
	return injected(ctx, propagation.TraceContext{})
}

// Outgoing returns the header traceparent for a request or a message that is sent within
// a span; empty if there is none to send.
func (t *Tracer) Outgoing(ctx context.Context) string {
	if t == nil || !trace.SpanContextFromContext(ctx).IsSampled() {
		return ""
	}
	return injected(ctx, t.propagator)
}

func injected(ctx context.Context, p propagation.TextMapPropagator) string {
	carrier := propagation.MapCarrier{}
	p.Inject(ctx, carrier)
	return carrier[TraceparentKey]
}

// Continue returns a context whose spans are below the one that an event keeps.
func (t *Tracer) Continue(ctx context.Context, kept string) context.Context {
	if t == nil || kept == "" {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{TraceparentKey: kept})
}

// Start starts a span below the one that an event keeps. The span does nothing if the event
// keeps none.
func (t *Tracer) Start(ctx context.Context, kept, name string, o ...trace.SpanStartOption) (context.Context, trace.Span) {
	if t == nil || kept == "" {
		return ctx, noop.Span{}
	}
	return t.tracer.Start(t.Continue(ctx, kept), name, o...)
}

// Describe sets an attribute of the span of ctx.
func Describe(ctx context.Context, key, value string) {
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.SetAttributes(attribute.String(key, value))
	}
}

// Fail marks a span as failed, for a short reason that many failures share. The error
// itself may contain what callers wrote.
func Fail(span trace.Span, reason string) {
	span.SetAttributes(attribute.String("error.type", reason))
	span.SetStatus(codes.Error, "")
}

// TraceID returns the id of the trace of ctx; empty if it is not sampled.
func TraceID(ctx context.Context) string {
	if at := trace.SpanContextFromContext(ctx); at.IsSampled() {
		return at.TraceID().String()
	}
	return ""
}

// Observe adds a value to a histogram, with the trace of ctx as its exemplar if it is sampled.
func Observe(ctx context.Context, to prometheus.Observer, value float64) {
	id := TraceID(ctx)
	if id == "" {
		to.Observe(value)
		return
	}
	to.(prometheus.ExemplarObserver).ObserveWithExemplar(value, prometheus.Labels{"trace_id": id}) // every histogram is one
}
