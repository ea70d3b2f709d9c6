package tracing

import (
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Span is a span that may be recorded. The methods of the zero Span do nothing.
type Span struct{ span trace.Span }

// IsRecording reports whether the span is recorded. If not, its attributes need not be
// made.
func (s Span) IsRecording() bool { return s.span != nil && s.span.IsRecording() }

// Set sets attributes. Spans leave the platform, so an attribute is never a token, a name
// of a user, the text of a message or the value of a statement's parameter.
func (s Span) Set(attributes ...attribute.KeyValue) { s.span.SetAttributes(attributes...) }

// Fail marks the span as failed, for a short reason that many failures share. The error
// itself may contain what callers wrote.
func (s Span) Fail(reason string) {
	if s.IsRecording() {
		s.span.SetAttributes(attribute.String("error.type", reason))
		s.span.SetStatus(codes.Error, "")
	}
}

// End ends the span.
func (s Span) End() {
	if s.span != nil {
		s.span.End()
	}
}

// EndWith ends the span, and marks it as failed if there was an error.
func (s Span) EndWith(err error) {
	if err != nil {
		s.Fail("error")
	}
	s.End()
}

// TraceID returns the id of the span's trace; empty if the span is not recorded.
func (s Span) TraceID() string {
	if s.span == nil || !s.span.SpanContext().IsSampled() {
		return ""
	}
	return s.span.SpanContext().TraceID().String()
}

// Observe adds a value to a histogram, with the trace as its exemplar if there is one.
func Observe(to prometheus.Observer, value float64, traceID string) {
	if traceID == "" {
		to.Observe(value)
		return
	}
	to.(prometheus.ExemplarObserver).ObserveWithExemplar(value, prometheus.Labels{"trace_id": traceID}) // every histogram is one
}
