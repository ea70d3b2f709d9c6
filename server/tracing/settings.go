package tracing

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"golang.org/x/net/http/httpguts"

	"github.com/moderato-live/moderato/server/certificates"
)

// Settings says where spans go, and of which calls. The zero value turns tracing off.
type Settings struct {
	// Endpoint is the URL to which spans are sent with OTLP over HTTP; empty turns tracing
	// off. The exporter itself reads the other variables that concern it, such as
	// OTEL_EXPORTER_OTLP_HEADERS.
	Endpoint string
	// Sampler chooses the calls that are traced; nil means those that the caller traces,
	// and those without a trace context.
	Sampler sdktrace.Sampler
	// Service is the name of the service; empty means DefaultService.
	Service string
	// Version is the version of the program.
	Version string
	// Attributes describe the process, beside the service's name and version.
	Attributes []attribute.KeyValue
	// Isolated neither accepts a trace context from callers nor sends one to receivers.
	Isolated bool
	// Delay is the longest time that a span waits to be sent; 0 means that of
	// OTEL_BSP_SCHEDULE_DELAY.
	Delay time.Duration
	// QueueSize is the maximum number of spans that wait to be sent; 0 means that of
	// OTEL_BSP_MAX_QUEUE_SIZE. Further spans are lost.
	QueueSize int
	// Flush is how long a server that stops waits for the collector; 0 means flushTimeout.
	Flush time.Duration
}

// DefaultService is the name of the service if no variable sets one.
const DefaultService = "moderato"

// The default endpoint, and the path that the variable of all signals does not contain.
const (
	defaultEndpoint = "http://localhost:4318"
	tracesPath      = "/v1/traces"
)

// FromEnv returns the settings of OpenTelemetry's variables. An error names the variable
// whose value cannot be used. The error does not contain the value of a variable that may
// hold a secret.
func FromEnv(getenv func(string) string, version string) (Settings, error) {
	e := &environment{getenv: getenv}
	s := Settings{Version: version, Service: e.get("OTEL_SERVICE_NAME")}
	if !e.isOn() {
		return Settings{}, errors.Join(e.errs...)
	}
	s.Endpoint = e.endpoint()
	s.Sampler = e.sampler()
	s.Isolated = e.isIsolated()
	s.Attributes = e.attributes()
	e.checkExporter()
	e.checkBatches()
	return s, errors.Join(e.errs...)
}

// environment reads variables, and collects the errors.
type environment struct {
	getenv func(string) string
	errs   []error
}

func (e *environment) get(name string) string { return strings.TrimSpace(e.getenv(name)) }

// either returns the value of the variable for traces or, without one, of that for all
// signals, and the name of the variable.
func (e *environment) either(suffix string) (value, name string) {
	name = "OTEL_EXPORTER_OTLP_TRACES_" + suffix
	if value = e.get(name); value == "" {
		name = "OTEL_EXPORTER_OTLP_" + suffix
		value = e.get(name)
	}
	return value, name
}

func (e *environment) refuse(name, format string, args ...any) {
	e.errs = append(e.errs, fmt.Errorf("%s: %s", name, fmt.Sprintf(format, args...)))
}

// isOn reports whether the variables turn tracing on: an endpoint does, and so does the
// name of the exporter.
func (e *environment) isOn() bool {
	if strings.EqualFold(e.get("OTEL_SDK_DISABLED"), "true") {
		return false
	}
	switch exporter := e.get("OTEL_TRACES_EXPORTER"); exporter {
	case "otlp":
		return true
	case "none":
		return false
	case "":
		endpoint, _ := e.either("ENDPOINT")
		return endpoint != ""
	default:
		e.refuse("OTEL_TRACES_EXPORTER", "%q is not supported; use otlp or none", exporter)
		return false
	}
}

func (e *environment) endpoint() string {
	value, name := e.either("ENDPOINT")
	if value == "" {
		return defaultEndpoint + tracesPath
	}
	u, err := url.Parse(value)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
		e.refuse(name, "must be a URL without credentials, such as %s", defaultEndpoint)
		return ""
	}
	if name == "OTEL_EXPORTER_OTLP_ENDPOINT" {
		u = u.JoinPath(tracesPath)
	}
	return u.String()
}

// sampler returns the sampler that the variables name. Its default is that of
// OpenTelemetry.
func (e *environment) sampler() sdktrace.Sampler {
	ratio := 1.0
	name := e.get("OTEL_TRACES_SAMPLER")
	if text := e.get("OTEL_TRACES_SAMPLER_ARG"); text != "" && strings.HasSuffix(name, "traceidratio") {
		var err error
		if ratio, err = strconv.ParseFloat(text, 64); err != nil || math.IsNaN(ratio) || ratio < 0 || ratio > 1 {
			e.refuse("OTEL_TRACES_SAMPLER_ARG", "%q must be a number from 0 to 1", text)
			return nil
		}
	}
	switch name {
	case "", "parentbased_always_on":
		return sdktrace.ParentBased(sdktrace.AlwaysSample())
	case "parentbased_always_off":
		return sdktrace.ParentBased(sdktrace.NeverSample())
	case "parentbased_traceidratio":
		return sdktrace.ParentBased(sdktrace.TraceIDRatioBased(ratio))
	case "always_on":
		return sdktrace.AlwaysSample()
	case "always_off":
		return sdktrace.NeverSample()
	case "traceidratio":
		return sdktrace.TraceIDRatioBased(ratio)
	}
	e.refuse("OTEL_TRACES_SAMPLER", "%q is not supported; use always_on, always_off, traceidratio, or one of them after parentbased_", name)
	return nil
}

// isIsolated reports whether the propagators turn the W3C trace context off.
func (e *environment) isIsolated() bool {
	text := e.get("OTEL_PROPAGATORS")
	if text == "" {
		return false
	}
	isIsolated := true
	for name := range strings.SplitSeq(text, ",") {
		switch name = strings.TrimSpace(name); name {
		case "tracecontext":
			isIsolated = false
		case "baggage", "none":
		default:
			e.refuse("OTEL_PROPAGATORS", "%q is not supported; use tracecontext or none", name)
		}
	}
	return isIsolated
}

func (e *environment) attributes() []attribute.KeyValue {
	var all []attribute.KeyValue
	for key, value := range e.pairs("OTEL_RESOURCE_ATTRIBUTES", e.get("OTEL_RESOURCE_ATTRIBUTES")) {
		all = append(all, attribute.String(key, value))
	}
	return all
}

// pairs parses KEY=VALUE,… with percent-encoded values.
func (e *environment) pairs(name, text string) map[string]string {
	found := map[string]string{}
	if text == "" {
		return found
	}
	for pair := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(pair, "=")
		key = strings.TrimSpace(key)
		decoded, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || key == "" || err != nil {
			e.refuse(name, "must be KEY=VALUE pairs separated by commas, with percent-encoded values")
			return nil
		}
		found[key] = decoded
	}
	return found
}

// checkExporter checks the variables that the exporter reads by itself. It would ignore a
// value that it cannot use.
func (e *environment) checkExporter() {
	if protocol, name := e.either("PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		e.refuse(name, "%q is not supported; use http/protobuf, to the collector's port for HTTP (4318)", protocol)
	}
	if compression, name := e.either("COMPRESSION"); compression != "" && compression != "gzip" && compression != "none" {
		e.refuse(name, "%q is not supported; use gzip or none", compression)
	}
	if timeout, name := e.either("TIMEOUT"); timeout != "" {
		e.checkCount(name, timeout)
	}
	e.checkHeaders("OTEL_EXPORTER_OTLP_HEADERS")
	e.checkHeaders("OTEL_EXPORTER_OTLP_TRACES_HEADERS")
	if file, name := e.either("CERTIFICATE"); file != "" {
		if _, err := certificates.ReadPool(file); err != nil {
			e.refuse(name, "%v", err)
		}
	}
	certificate, name := e.either("CLIENT_CERTIFICATE")
	key, _ := e.either("CLIENT_KEY")
	if certificate != "" || key != "" {
		if _, err := certificates.ReadPair(certificate, key); err != nil {
			e.refuse(name, "%v", err)
		}
	}
}

// checkHeaders checks headers, which may hold a credential. The exporter would print what it
// cannot use.
func (e *environment) checkHeaders(name string) {
	for key := range e.pairs(name, e.get(name)) {
		if !httpguts.ValidHeaderFieldName(key) {
			e.refuse(name, "the text before the first = of a pair is not the name of a header; write NAME=VALUE, and a space as %%20")
		}
	}
}

// checkBatches checks the variables of the queue.
func (e *environment) checkBatches() {
	for _, name := range []string{"OTEL_BSP_SCHEDULE_DELAY", "OTEL_BSP_EXPORT_TIMEOUT", "OTEL_BSP_MAX_QUEUE_SIZE", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE"} {
		if text := e.get(name); text != "" {
			e.checkCount(name, text)
		}
	}
}

// maxCount bounds the numbers in variables: milliseconds, and spans in memory.
const maxCount = 1_000_000

func (e *environment) checkCount(name, text string) {
	if n, err := strconv.Atoi(text); err != nil || n < 1 || n > maxCount {
		e.refuse(name, "%q must be a whole number from 1 to %d", text, maxCount)
	}
}
