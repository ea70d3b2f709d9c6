// Package tracing configures OpenTelemetry: the spans of calls, of their statements, and of
// what their events cause, and the W3C trace context. Its libraries make the spans of calls
// and statements. A span below a call exists only if the call is sampled: background work
// that no call caused is not traced.
package tracing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

const (
	// flushTimeout bounds how long a server that stops waits for the collector.
	flushTimeout = 5 * time.Second
	// maxText is the maximum length in bytes of an attribute, such as the text of a statement.
	maxText = 2 << 10
)

// Settings says whether and how calls are traced, beyond the variables of OpenTelemetry that
// its SDK reads. The zero value turns tracing off.
type Settings struct {
	// On turns tracing on.
	On bool
	// Version is the version of the program.
	Version string
	// Isolated neither accepts a trace context from callers nor sends one to receivers.
	Isolated bool
	// Endpoint is the URL to which spans are sent; empty means that of the variables.
	Endpoint string
	// Sampler chooses the calls that are traced; nil means that of the variables.
	Sampler sdktrace.Sampler
	// Batch are options of the queue of spans.
	Batch []sdktrace.BatchSpanProcessorOption
	// Flush is how long a server that stops waits for the collector; 0 means flushTimeout.
	Flush time.Duration
}

// FromEnv returns the settings of OpenTelemetry's variables. An endpoint turns tracing on,
// and so does the name of the exporter.
func FromEnv(getenv func(string) string, version string) (Settings, error) {
	const endpoint, protocol = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_PROTOCOL"
	const tracesEndpoint, tracesProtocol = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	exporter := getenv("OTEL_TRACES_EXPORTER")
	switch {
	case strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true"), exporter == "none", exporter+getenv(endpoint)+getenv(tracesEndpoint) == "":
		return Settings{}, nil
	case exporter != "" && exporter != "otlp":
		return Settings{}, fmt.Errorf("OTEL_TRACES_EXPORTER: %q is not supported; use otlp or none", exporter)
	}
	for _, name := range []string{protocol, tracesProtocol} {
		if value := getenv(name); value != "" && value != "http/protobuf" {
			return Settings{}, fmt.Errorf("%s: %q is not supported; use http/protobuf, to the collector's port for HTTP (4318)", name, value)
		}
	}
	propagators := getenv("OTEL_PROPAGATORS")
	return Settings{On: true, Version: version, Isolated: propagators != "" && !strings.Contains(propagators, "tracecontext")}, nil
}

// Tracer starts spans. A nil Tracer is off, and its methods do nothing.
type Tracer struct {
	tracer     trace.Tracer
	provider   *sdktrace.TracerProvider
	propagator propagation.TextMapPropagator
	flush      time.Duration
	log        *slog.Logger
}

// New returns a Tracer, and registers its metrics. It returns nil if the settings turn
// tracing off. It does not connect to the collector.
func New(ctx context.Context, s Settings, log *slog.Logger, r prometheus.Registerer) (*Tracer, error) {
	if !s.On {
		return nil, nil //nolint:nilnil // a nil Tracer is off
	}
	otel.SetLogger(logr.New(sdkLog{log}))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("OpenTelemetry", "error", err) }))
	var endpoint []otlptracehttp.Option
	if s.Endpoint != "" {
		endpoint = append(endpoint, otlptracehttp.WithEndpointURL(s.Endpoint))
	}
	exporter, err := otlptracehttp.New(ctx, endpoint...)
	if err != nil {
		return nil, fmt.Errorf("OTLP exporter: %w", err)
	}
	described, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "moderato"), attribute.String("service.version", s.Version)), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("OpenTelemetry resource: %w", err)
	}
	counted := newCounted(exporter, log, r)
	limits := sdktrace.NewSpanLimits()
	limits.AttributeValueLengthLimit = maxText
	options := []sdktrace.TracerProviderOption{
		sdktrace.WithSpanProcessor(counted.count(sdktrace.NewBatchSpanProcessor(counted, s.Batch...))),
		sdktrace.WithResource(described),
		sdktrace.WithRawSpanLimits(limits),
	}
	if s.Sampler != nil {
		options = append(options, sdktrace.WithSampler(s.Sampler))
	}
	t := &Tracer{
		provider: sdktrace.NewTracerProvider(options...), propagator: propagation.TraceContext{},
		flush: cmp.Or(s.Flush, flushTimeout), log: log,
	}
	if s.Isolated {
		t.propagator = propagation.NewCompositeTextMapPropagator()
	}
	t.tracer = t.provider.Tracer("github.com/moderato-live/moderato", trace.WithInstrumentationVersion(s.Version))
	return t, nil
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

// sdkLog writes the warnings of the SDK to the log. It leaves out their details: values of
// variables, which may hold a credential.
type sdkLog struct{ log *slog.Logger }

func (sdkLog) Init(logr.RuntimeInfo)               {}
func (sdkLog) Enabled(level int) bool              { return level <= 1 } // errors, and what the SDK calls warnings
func (l sdkLog) Info(_ int, text string, _ ...any) { l.log.Warn("OpenTelemetry: " + text) }
func (l sdkLog) Error(_ error, text string, _ ...any) {
	l.log.Warn("OpenTelemetry: " + text + " failed; a variable has a value that cannot be used")
}
func (l sdkLog) WithValues(...any) logr.LogSink { return l }
func (l sdkLog) WithName(string) logr.LogSink   { return l }
