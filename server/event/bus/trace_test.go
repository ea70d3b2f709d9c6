package bus_test

import (
	"encoding/hex"
	"log/slog"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/internal/tracing"
	"github.com/moderato-live/moderato/internal/tracing/tracingtest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestMessageContinuesTrace publishes an event of a traced call and one of another call.
func TestMessageContinuesTrace(t *testing.T) {
	const trace, caller = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	collector, broker := tracingtest.Start(t), startBroker(t)
	url := storetest.SQLite(t)
	untraced, write := openWorld(t, url)
	write(1)
	if _, err := untraced.DB().ExecContext(t.Context(), "UPDATE events SET traceparent = ? WHERE position = 1", "00-"+trace+"-"+caller+"-01"); err != nil {
		t.Fatal(err)
	}
	tracer, err := tracing.New(t.Context(), collector.Settings(nil), slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	defer tracer.Close()
	s, err := store.OpenWith(t.Context(), url, store.Options{Tracer: tracer})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := newSink(s, broker.config()).Turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	span := collector.Wait(t, "publish MODERATO")
	if hex.EncodeToString(span.GetTraceId()) != trace || hex.EncodeToString(span.GetParentSpanId()) != caller {
		t.Error("the span is not below that of the call")
	}
	messages := broker.read(t)
	if len(messages) != 2 {
		t.Fatalf("got %d messages, want 2", len(messages))
	}
	for i, want := range []string{"00-" + trace + "-" + hex.EncodeToString(span.GetSpanId()) + "-01", ""} {
		if got := messages[i].traceparent; got != want {
			t.Errorf("message %d has the traceparent %q, want %q", i, got, want)
		}
	}
}
