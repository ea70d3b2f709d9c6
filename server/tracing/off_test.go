package tracing_test

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/server/tracing"
)

// TestOffAllocatesNothing runs all that a call does with a Tracer that is off.
func TestOffAllocatesNothing(t *testing.T) {
	ctx := context.WithValue(t.Context(), key{}, "a value")
	duration := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "duration"})
	allocations := testing.AllocsPerRun(100, func() { useTracer(ctx, nil, duration) })
	if allocations != 0 {
		t.Errorf("a Tracer that is off allocates %v times", allocations)
	}
}

type key struct{}

func useTracer(ctx context.Context, tracer *tracing.Tracer, duration prometheus.Observer) {
	database := tracing.Database{Tracer: tracer, System: "sqlite"}
	ctx, call := tracer.StartCall(ctx, "/a/b", nil)
	ctx, transaction := database.Transaction(ctx)
	_, statement := database.Statement(ctx, "SELECT 1")
	_, named := database.Named(ctx, "name")
	_, _ = statement.Rows(nil, nil)
	named.EndWith(nil)
	transaction.EndWith(context.Canceled)
	if tracer.Kept(ctx) != "" || tracer.Outgoing(tracer.Continue(ctx, "x")) != "" || call.IsRecording() {
		panic("it is on")
	}
	tracing.Observe(duration, 1, call.TraceID())
	tracer.Record(ctx, "x", tracing.Producer, "name", time.Time{}, time.Time{})
	call.End()
	tracer.Close()
}

// BenchmarkOff measures all that a call does with a Tracer that is off.
func BenchmarkOff(b *testing.B) {
	duration := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "duration"})
	b.ReportAllocs()
	for b.Loop() {
		useTracer(b.Context(), nil, duration)
	}
}
