package bus

import (
	"context"

	"github.com/nats-io/nats.go"
	"go.opentelemetry.io/otel/attribute"

	"github.com/moderato-live/moderato/server/outbox"
	"github.com/moderato-live/moderato/server/tracing"
)

// startSpan starts the span in which a message with an event is published, if the call that
// caused the event was traced, and adds the header traceparent to the message.
func (p *publisher) startSpan(ctx context.Context, e *outbox.Event, message *nats.Msg) tracing.Span {
	if p.tracer == nil || e.Traceparent == "" {
		return tracing.Span{}
	}
	ctx, span := p.tracer.Start(p.tracer.Continue(ctx, e.Traceparent), tracing.Producer, "publish "+p.config.Stream)
	if span.IsRecording() {
		span.Set(
			attribute.String("messaging.system", "nats"),
			attribute.String("messaging.operation.name", "publish"),
			attribute.String("messaging.destination.name", p.config.Stream),
			attribute.String("messaging.message.id", e.ID.String()),
			attribute.String("moderato.event.type", string(e.Type)),
		)
	}
	if header := p.tracer.Outgoing(ctx); header != "" {
		message.Header[tracing.TraceparentKey] = []string{header}
	}
	return span
}
