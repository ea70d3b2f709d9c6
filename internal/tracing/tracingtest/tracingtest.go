// Package tracingtest is a collector for tests, which receives spans with OTLP over HTTP.
package tracingtest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/internal/tracing"
)

// patience is how long a test waits for a span.
const patience = 20 * time.Second

// Collector keeps the spans that it receives.
type Collector struct {
	// URL is where the Collector receives spans.
	URL string

	mu     sync.Mutex
	bodies [][]byte
	spans  []*tracev1.Span
}

// Start starts a Collector, which stops when the test ends.
func Start(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var request collectorv1.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &request)
		}
		if err != nil {
			t.Errorf("spans: %v", err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.bodies = append(c.bodies, body)
		for _, resource := range request.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				c.spans = append(c.spans, scope.GetSpans()...)
			}
		}
	}))
	t.Cleanup(server.Close)
	c.URL = server.URL + "/v1/traces"
	return c
}

// Settings returns the settings of a server that sends its spans to the Collector.
func (c *Collector) Settings(sampler sdktrace.Sampler) tracing.Settings {
	return tracing.Settings{
		On: true, Endpoint: c.URL, Sampler: sampler, Batch: []sdktrace.BatchSpanProcessorOption{sdktrace.WithBatchTimeout(5 * time.Millisecond)},
	}
}

// Spans returns the spans that have arrived.
func (c *Collector) Spans() []*tracev1.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Bodies returns the requests that have arrived, as they were sent.
func (c *Collector) Bodies() [][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.bodies)
}

// Wait returns the first span with a name, once it has arrived.
func (c *Collector) Wait(t testing.TB, name string) *tracev1.Span {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		spans := c.Spans()
		if i := slices.IndexFunc(spans, func(s *tracev1.Span) bool { return s.GetName() == name }); i >= 0 {
			return spans[i]
		}
		if time.Now().After(deadline) {
			var names []string
			for _, s := range spans {
				names = append(names, s.GetName())
			}
			t.Fatalf("there is no span %q among %q", name, names)
		}
	}
}
