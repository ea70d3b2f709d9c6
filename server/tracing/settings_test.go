package tracing_test

import (
	"strings"
	"testing"

	"github.com/moderato-live/moderato/server/tracing"
)

// env returns a lookup of variables; pairs holds names and values alternately.
func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestEndpointOrExporterTurnsTracingOn(t *testing.T) {
	t.Parallel()
	const all, traces = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	for want, variables := range map[string][][]string{
		"": {
			{}, {"OTEL_SERVICE_NAME", "x"}, {"OTEL_TRACES_EXPORTER", "none", all, "http://c:4318"},
			{"OTEL_SDK_DISABLED", "True", all, "http://c:4318"}, {"OTEL_TRACES_SAMPLER", "nonsense"},
		},
		"http://localhost:4318/v1/traces": {{"OTEL_TRACES_EXPORTER", "otlp"}},
		"http://c:4318/v1/traces":         {{all, "http://c:4318"}, {all, "http://c:4318/"}, {all, "http://x", traces, "http://c:4318/v1/traces"}},
		"https://c/prefix/v1/traces":      {{all, "https://c/prefix"}},
		"https://c/other":                 {{traces, "https://c/other"}},
	} {
		for _, v := range variables {
			s, err := tracing.FromEnv(env(v...), "v1")
			if err != nil || s.Endpoint != want {
				t.Errorf("%q: got %q, %v, want %q", v, s.Endpoint, err, want)
			}
		}
	}
}

func TestSettingsOfVariables(t *testing.T) {
	t.Parallel()
	s, err := tracing.FromEnv(env(
		"OTEL_TRACES_EXPORTER", "otlp", "OTEL_SERVICE_NAME", "moderation", "OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=a%2Cb",
		"OTEL_TRACES_SAMPLER", "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG", "0.1", "OTEL_PROPAGATORS", "none",
		"OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf", "OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20x", "OTEL_EXPORTER_OTLP_COMPRESSION", "gzip",
		"OTEL_BSP_MAX_QUEUE_SIZE", "100",
	), "v1")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Sampler.Description(); !strings.Contains(got, "TraceIDRatioBased{0.1}") || !strings.HasPrefix(got, "ParentBased") {
		t.Errorf("the sampler is %s", got)
	}
	if s.Service != "moderation" || s.Version != "v1" || !s.Isolated || len(s.Attributes) != 1 || s.Attributes[0].Value.AsString() != "a,b" {
		t.Errorf("got %+v", s)
	}
}

// TestUnusableVariablesAreNamed checks that an error names the variable, and does not repeat
// the headers and the endpoint, which may hold secrets.
func TestUnusableVariablesAreNamed(t *testing.T) {
	t.Parallel()
	for _, v := range [][]string{
		{"OTEL_TRACES_EXPORTER", "console"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:secret@collector:4318"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "ftp://secret"},
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"},
		{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "secret"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "a=%secret"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "Authorization: Basic secret=="},
		{"OTEL_EXPORTER_OTLP_HEADERS", "secret", "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "a=b"},
		{"OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"},
		{"OTEL_EXPORTER_OTLP_TIMEOUT", "10s"},
		{"OTEL_EXPORTER_OTLP_CERTIFICATE", "/no/such/file"},
		{"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "/no/such/file"},
		{"OTEL_TRACES_SAMPLER", "jaeger_remote"},
		{"OTEL_TRACES_SAMPLER_ARG", "10%"},
		{"OTEL_TRACES_SAMPLER_ARG", "1.5"},
		{"OTEL_TRACES_SAMPLER_ARG", "NaN"},
		{"OTEL_RESOURCE_ATTRIBUTES", "a"},
		{"OTEL_PROPAGATORS", "b3"},
		{"OTEL_BSP_MAX_QUEUE_SIZE", "0"},
		{"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "many"},
		{"OTEL_BSP_SCHEDULE_DELAY", "-1"},
		{"OTEL_BSP_EXPORT_TIMEOUT", "1000000000"},
	} {
		rest := []string{"OTEL_TRACES_EXPORTER", "otlp", "OTEL_TRACES_SAMPLER", "traceidratio"}
		_, err := tracing.FromEnv(env(append(v, rest...)...), "")
		if err == nil || !strings.Contains(err.Error(), v[0]+":") {
			t.Errorf("%q: the error is %v", v, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error repeats the value: %v", err)
		}
	}
}
