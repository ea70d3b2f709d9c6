package webhooks

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/tracing"
)

// startSpan starts the span of an attempt, if the call that caused the event was traced.
func (e *Engine) startSpan(ctx context.Context, w *ent.Webhook, m message) (context.Context, trace.Span) {
	ctx, span := e.Store.Tracer().Start(ctx, m.traceparent, "deliver webhook", trace.WithSpanKind(trace.SpanKindClient))
	if span.IsRecording() {
		span.SetAttributes(
			attribute.String("http.request.method", http.MethodPost),
			attribute.String("server.address", host(w.URL)), // with its port; the rest of the URL may hold a secret
			attribute.String("moderato.webhook.id", w.ID.String()),
			attribute.String("moderato.event.id", m.id),
		)
	}
	return ctx, span
}

// endSpan ends the span of an attempt.
func endSpan(span trace.Span, o outcome, ok bool) {
	if !span.IsRecording() {
		return
	}
	if o.status != 0 {
		span.SetAttributes(attribute.Int("http.response.status_code", o.status))
	}
	switch {
	case !ok:
		tracing.Fail(span, "canceled")
	case o.problem != "":
		tracing.Fail(span, o.problem)
	}
	span.End()
}
