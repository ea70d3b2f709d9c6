package tracing_test

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/internal/tracing"
	"github.com/moderato-live/moderato/internal/tracing/tracingtest"
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
	for _, v := range [][]string{
		{}, {"OTEL_SERVICE_NAME", "x"}, {"OTEL_TRACES_EXPORTER", "none", all, "http://c:4318"}, {"OTEL_SDK_DISABLED", "True", all, "http://c:4318"},
	} {
		if s, err := tracing.FromEnv(env(v...), "v1"); err != nil || s.On {
			t.Errorf("%q: got %+v, %v, want off", v, s, err)
		}
	}
	for _, v := range [][]string{{"OTEL_TRACES_EXPORTER", "otlp"}, {all, "http://c:4318"}, {traces, "https://c/other"}, {all, "http://c", "OTEL_PROPAGATORS", "tracecontext,baggage"}} {
		if s, err := tracing.FromEnv(env(v...), "v1"); err != nil || !s.On || s.Isolated || s.Version != "v1" {
			t.Errorf("%q: got %+v, %v, want on", v, s, err)
		}
	}
	if s, err := tracing.FromEnv(env(all, "http://c:4318", "OTEL_PROPAGATORS", "none"), ""); err != nil || !s.Isolated {
		t.Errorf("without propagators: got %+v, %v", s, err)
	}
}

// TestUnusableVariablesAreNamed checks that an error names the variable that chooses the
// exporter or the protocol.
func TestUnusableVariablesAreNamed(t *testing.T) {
	t.Parallel()
	for _, v := range [][]string{
		{"OTEL_TRACES_EXPORTER", "console"},
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "OTEL_TRACES_EXPORTER", "otlp"},
		{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json", "OTEL_TRACES_EXPORTER", "otlp"},
	} {
		if _, err := tracing.FromEnv(env(v...), ""); err == nil || !strings.Contains(err.Error(), v[0]+":") {
			t.Errorf("%q: the error is %v", v, err)
		}
	}
}

// TestUnusableValuesAreNotLogged sets headers and an endpoint that the SDK cannot use. The log
// has a warning, without the values: they may hold a credential.
func TestUnusableValuesAreNotLogged(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization: Basic "+canary)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:"+canary+"@host:port")
	t.Setenv("OTEL_TRACES_SAMPLER", "unknown")
	var log bytes.Buffer
	tracer, err := tracing.New(t.Context(), tracing.Settings{On: true}, slog.New(slog.NewTextHandler(&log, nil)), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	tracer.Close()
	for _, want := range []string{"parse headers failed", "parse url failed", "unsupported sampler"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q: %s", want, &log)
		}
	}
	if strings.Contains(log.String(), canary) {
		t.Errorf("the log has a value: %s", &log)
	}
}

// failing is a database whose statements fail with an error that repeats an argument.
type failing struct{ driver.Conn }

func (f failing) Connect(context.Context) (driver.Conn, error) { return f, nil }
func (failing) Driver() driver.Driver                          { return nil }
func (failing) Close() error                                   { return nil }

func (failing) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	return nil, errors.New("duplicate entry " + canary)
}

// TestStatementSpanHasNoArguments runs a statement that fails, and another without a call.
func TestStatementSpanHasNoArguments(t *testing.T) {
	t.Parallel()
	collector := tracingtest.Start(t)
	tracer, err := tracing.New(t.Context(), collector.Settings(nil), slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	db := tracer.OpenDB(failing{}, "mysql")
	t.Cleanup(func() { _ = db.Close() })
	ctx, call := tracer.Start(t.Context(), "00-"+callersTrace+"-"+callersSpan+"-01", "call")
	for _, ctx := range []context.Context{ctx, t.Context()} {
		if _, err := db.ExecContext(ctx, "INSERT INTO x (a) VALUES (?)", canary); err == nil {
			t.Fatal("the statement did not fail")
		}
	}
	call.End()
	tracer.Close()
	wantAttributes(t, collector.Wait(t, "INSERT"), "db.system.name=mysql error.type=*errors.errorString")
	if n := len(collector.Spans()); n != 2 {
		t.Errorf("%d spans were sent, want 2", n)
	}
	if bytes.Contains(bytes.Join(collector.Bodies(), nil), []byte(canary)) {
		t.Error("a span has the argument")
	}
}
