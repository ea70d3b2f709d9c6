package outbox

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// trace records the span in which an event got its position, which publishes the event to
// all listeners. It returns ctx with the span, if the call that caused the event was traced.
func (q *Sequencer) trace(ctx context.Context, w waiting, began, ended time.Time) context.Context {
	ctx, span := q.Store.Tracer().Start(ctx, w.traceparent, "publish event",
		trace.WithSpanKind(trace.SpanKindProducer), trace.WithTimestamp(began))
	if span.IsRecording() {
		span.SetAttributes(attribute.String("moderato.event.id", w.id.String()), attribute.String("moderato.channel.id", w.channelID.String()))
	}
	span.End(trace.WithTimestamp(ended))
	return ctx
}
