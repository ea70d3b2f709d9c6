package bus

import (
	"context"

	"github.com/nats-io/nats.go"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/moderato-live/moderato/internal/tracing"
	"github.com/moderato-live/moderato/server/event/outbox"
)

// startSpan starts the span in which a message with an event is published, if the call that
// caused the event was traced, and adds the header traceparent to the message.
func (p *publisher) startSpan(ctx context.Context, e *outbox.Event, message *nats.Msg) trace.Span {
	ctx, span := p.tracer.Start(ctx, e.Traceparent, "publish "+p.config.Stream, trace.WithSpanKind(trace.SpanKindProducer))
	if !span.IsRecording() {
		return span
	}
	span.SetAttributes(
		attribute.String("messaging.system", "nats"),
		attribute.String("messaging.operation.name", "publish"),
		attribute.String("messaging.destination.name", p.config.Stream),
		attribute.String("messaging.message.id", e.ID.String()),
		attribute.String("moderato.event.type", string(e.Type)),
	)
	if header := p.tracer.Outgoing(ctx); header != "" {
		message.Header[tracing.TraceparentKey] = []string{header}
	}
	return span
}

// endSpan ends the span of a message, which was not published if err is not nil.
func endSpan(span trace.Span, err error) {
	if err != nil {
		tracing.Fail(span, "error")
	}
	span.End()
}
