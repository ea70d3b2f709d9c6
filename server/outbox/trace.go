package outbox

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/moderato-live/moderato/server/tracing"
)

// trace records the span in which an event got its position, which publishes the event to
// all listeners. It returns the id of the trace; empty if the call that caused the event was
// not traced.
func (q *Sequencer) trace(ctx context.Context, w waiting, began, ended time.Time) string {
	if w.traceparent == "" {
		return ""
	}
	return q.Store.Tracer().Record(ctx, w.traceparent, tracing.Producer, "publish event", began, ended,
		attribute.String("moderato.event.id", w.id.String()),
		attribute.String("moderato.channel.id", w.channelID.String()),
	)
}
