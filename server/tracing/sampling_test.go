package tracing_test

import (
	"log/slog"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/moderato-live/moderato/server/tracing"
	"github.com/moderato-live/moderato/server/tracing/tracingtest"
)

// TestSamplerChoosesItsShare checks that a sampler of half the traces chooses half the calls
// that begin a trace. It chooses by the id of the trace, so a second id would leave a quarter.
func TestSamplerChoosesItsShare(t *testing.T) {
	t.Parallel()
	const calls = 2_000
	collector := tracingtest.Start(t)
	tracer, err := tracing.New(t.Context(), collector.Settings(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(.5))), slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tracer.Close)
	chosen := 0
	for range calls {
		_, span := tracer.StartCall(t.Context(), "/a/b", func(string) []string { return nil })
		if span.IsRecording() {
			chosen++
		}
		span.End()
	}
	if chosen < calls*4/10 || chosen > calls*6/10 {
		t.Errorf("%d of %d calls are traced", chosen, calls)
	}
}
