package webhooks

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/tracing"
)

// startSpan starts the span of an attempt, if the call that caused the event was traced.
func (e *Engine) startSpan(ctx context.Context, w *ent.Webhook, m message) (context.Context, tracing.Span) {
	tracer := e.Store.Tracer()
	if tracer == nil || m.traceparent == "" {
		return ctx, tracing.Span{}
	}
	ctx, span := tracer.Start(tracer.Continue(ctx, m.traceparent), tracing.Client, "deliver webhook")
	if span.IsRecording() {
		span.Set(
			attribute.String("http.request.method", http.MethodPost),
			attribute.String("server.address", host(w.URL)), // with its port; the rest of the URL may hold a secret
			attribute.String("moderato.webhook.id", w.ID.String()),
			attribute.String("moderato.event.id", m.id),
		)
	}
	return ctx, span
}

// endSpan ends the span of an attempt.
func endSpan(span tracing.Span, o outcome, ok bool) {
	if !span.IsRecording() {
		return
	}
	if o.status != 0 {
		span.Set(attribute.Int("http.response.status_code", o.status))
	}
	switch {
	case !ok:
		span.Fail("canceled")
	case o.problem != "":
		span.Fail(o.problem)
	}
	span.End()
}
