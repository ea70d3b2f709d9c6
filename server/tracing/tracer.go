// Package tracing records the spans of calls with OpenTelemetry, and carries their W3C
// trace context in from callers and out to receivers. A span below a call exists only if
// the call is sampled: background work that no call caused is not traced.
package tracing

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// flushTimeout bounds how long a server that stops waits for the collector.
const flushTimeout = 5 * time.Second

// Tracer starts spans. A nil Tracer is off: its methods do nothing, and allocate nothing.
type Tracer struct {
	tracer     trace.Tracer
	provider   *sdktrace.TracerProvider
	sampler    sdktrace.Sampler
	isIsolated bool
	flush      time.Duration
	log        *slog.Logger
}

// New returns a Tracer, and registers its metrics. It returns nil if the settings turn
// tracing off. It does not connect to the collector.
func New(ctx context.Context, s Settings, log *slog.Logger, r prometheus.Registerer) (*Tracer, error) {
	if s.Endpoint == "" {
		return nil, nil //nolint:nilnil // a nil Tracer is off
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(s.Endpoint))
	if err != nil {
		return nil, fmt.Errorf("OTLP exporter: %w", err)
	}
	counted := newCounted(exporter, log, r)
	var batches []sdktrace.BatchSpanProcessorOption
	if s.Delay > 0 {
		batches = append(batches, sdktrace.WithBatchTimeout(s.Delay))
	}
	if s.QueueSize > 0 {
		batches = append(batches, sdktrace.WithMaxQueueSize(s.QueueSize))
	}
	sampler := s.Sampler
	if sampler == nil {
		sampler = sdktrace.ParentBased(sdktrace.AlwaysSample())
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithSpanProcessor(counted.count(sdktrace.NewBatchSpanProcessor(counted, batches...))),
		sdktrace.WithResource(resource.NewSchemaless(s.resource()...)),
		sdktrace.WithSampler(sampler),
		sdktrace.WithIDGenerator(ids{}),
	)
	return &Tracer{
		tracer:     provider.Tracer("github.com/moderato-live/moderato", trace.WithInstrumentationVersion(s.Version)),
		provider:   provider,
		sampler:    sampler,
		isIsolated: s.Isolated,
		flush:      cmp.Or(s.Flush, flushTimeout),
		log:        log,
	}, nil
}

// resource returns the attributes of the process. Of attributes with the same key, the
// last one counts.
func (s Settings) resource() []attribute.KeyValue {
	all := []attribute.KeyValue{attribute.String("service.name", DefaultService)}
	if s.Version != "" {
		all = append(all, attribute.String("service.version", s.Version))
	}
	all = append(all, s.Attributes...)
	if s.Service != "" {
		all = append(all, attribute.String("service.name", s.Service))
	}
	return all
}

// Close sends the spans that wait, and gives up after a while. Spans that end later are
// lost.
func (t *Tracer) Close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), t.flush)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		t.log.WarnContext(ctx, "the last spans were not sent", "error", err)
	}
}

// Kind is the kind of a span.
type Kind = trace.SpanKind

// The kinds of spans below those of calls.
const (
	Internal = trace.SpanKindInternal // a step in this process
	Client   = trace.SpanKindClient   // a request to another system
	Producer = trace.SpanKindProducer // a message for listeners
)

// propagator reads and writes the W3C trace context.
var propagator propagation.TraceContext

// StartCall starts the span of a call if the sampler chooses the call. sent returns the
// metadata that the caller sent with a key. The span is the child of the caller's if the
// caller sent a trace context.
func (t *Tracer) StartCall(ctx context.Context, method string, sent func(key string) []string) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	within := ctx
	if !t.isIsolated {
		within = propagator.Extract(ctx, incoming(sent))
	}
	name := strings.TrimPrefix(method, "/")
	id := trace.SpanContextFromContext(within).TraceID()
	if !id.IsValid() {
		id = newTraceID()
	}
	if !t.isSampled(within, id, name) {
		return ctx, Span{}
	}
	ctx, span := t.tracer.Start(withTraceID(within, id), name, trace.WithSpanKind(trace.SpanKindServer))
	return ctx, Span{span}
}

// isSampled reports whether the sampler chooses a call. The SDK would ask the sampler only
// after it has made most of the span, which most calls do not need.
func (t *Tracer) isSampled(ctx context.Context, id trace.TraceID, name string) bool {
	return t.sampler.ShouldSample(sdktrace.SamplingParameters{
		ParentContext: ctx, TraceID: id, Name: name, Kind: trace.SpanKindServer,
	}).Decision == sdktrace.RecordAndSample
}

// Current returns the span of ctx.
func (t *Tracer) Current(ctx context.Context) Span {
	if t == nil {
		return Span{}
	}
	return Span{trace.SpanFromContext(ctx)}
}

// Start starts a span below the one of ctx. It does nothing if ctx has no sampled span.
func (t *Tracer) Start(ctx context.Context, kind Kind, name string) (context.Context, Span) {
	if t == nil || !trace.SpanContextFromContext(ctx).IsSampled() {
		return ctx, Span{}
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(kind))
	return ctx, Span{span}
}

// Record records a span that has ended, below the one that an event keeps. It returns the
// id of the trace; empty if the event keeps no span.
func (t *Tracer) Record(ctx context.Context, traceparent string, kind Kind, name string, from, to time.Time, attributes ...attribute.KeyValue) string {
	if t == nil || traceparent == "" {
		return ""
	}
	ctx = t.Continue(ctx, traceparent)
	_, span := t.tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithTimestamp(from), trace.WithAttributes(attributes...))
	span.End(trace.WithTimestamp(to))
	return Span{span}.TraceID()
}

// Kept returns the sampled span of ctx in the form in which events keep it, which is that
// of the header traceparent; empty if there is none. Events do not keep the tracestate:
// it would tell the receivers of webhooks what the caller's tools wrote for each other.
func (t *Tracer) Kept(ctx context.Context) string {
	if t == nil {
		return ""
	}
	at := trace.SpanContextFromContext(ctx)
	if !at.IsSampled() {
		return ""
	}
	return traceparent(at)
}

// Continue returns a context whose spans are below the one that an event keeps.
func (t *Tracer) Continue(ctx context.Context, kept string) context.Context {
	if t == nil || kept == "" {
		return ctx
	}
	return propagator.Extract(ctx, propagation.MapCarrier{TraceparentKey: kept})
}

// Outgoing returns the header traceparent for a request or a message that is sent within
// a span; empty if there is none to send.
func (t *Tracer) Outgoing(ctx context.Context) string {
	if t == nil || t.isIsolated {
		return ""
	}
	return t.Kept(ctx)
}

// TraceID returns the id of the trace of the span that an event keeps; empty if there is
// none.
func (t *Tracer) TraceID(kept string) string {
	if t == nil || kept == "" {
		return ""
	}
	return trace.SpanContextFromContext(t.Continue(context.Background(), kept)).TraceID().String()
}
