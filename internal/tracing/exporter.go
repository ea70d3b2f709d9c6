package tracing

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// failureInterval is the minimum time between two warnings about the collector in the log.
const failureInterval = time.Minute

// counted is an exporter that counts spans, and logs failures: the SDK would write them to
// the standard error output.
type counted struct {
	sdktrace.SpanExporter

	log    *slog.Logger
	logged atomic.Int64 // Unix time in nanoseconds

	ended, exported prometheus.Counter
}

func newCounted(e sdktrace.SpanExporter, log *slog.Logger, r prometheus.Registerer) *counted {
	c := &counted{
		SpanExporter: e, log: log,
		ended: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "moderato_trace_spans_total", Help: "Spans of sampled calls that have ended.",
		}),
		exported: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "moderato_trace_spans_exported_total", Help: "Spans that the collector has accepted. Those that it has not are in the queue or lost.",
		}),
	}
	r.MustRegister(c.ended, c.exported)
	return c
}

// ExportSpans sends spans. It handles a failure itself.
func (c *counted) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := c.SpanExporter.ExportSpans(ctx, spans); err != nil {
		now, last := time.Now().UnixNano(), c.logged.Load()
		if now-last >= int64(failureInterval) && c.logged.CompareAndSwap(last, now) {
			c.log.WarnContext(ctx, "spans were not sent and are lost", "spans", len(spans), "error", err)
		}
		return nil
	}
	c.exported.Add(float64(len(spans)))
	return nil
}

// count returns a processor that counts the spans of another.
func (c *counted) count(p sdktrace.SpanProcessor) sdktrace.SpanProcessor { return counting{p, c} }

type counting struct {
	sdktrace.SpanProcessor

	counted *counted
}

func (p counting) OnEnd(s sdktrace.ReadOnlySpan) {
	p.counted.ended.Inc()
	p.SpanProcessor.OnEnd(s)
}
