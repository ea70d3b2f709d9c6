package cli_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/internal/tracing/tracingtest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestDocumentedTracingSettings serves with the documented variables, but another collector,
// and checks that it gets the span of a call.
func TestDocumentedTracingSettings(t *testing.T) {
	t.Parallel()
	collector := tracingtest.Start(t)
	const documented = "http://127.0.0.1:4318"
	commands := block(t, "docs/tracing.md: Turn tracing on/1")
	if !strings.Contains(commands, documented) || !strings.HasSuffix(commands, "\nmoderato serve\n") {
		t.Fatalf("the commands are %s", commands)
	}
	commands = strings.Replace(commands, documented, strings.TrimSuffix(collector.URL, "/v1/traces"), 1)
	env := append([]string{"OTEL_BSP_SCHEDULE_DELAY=5"}, regexp.MustCompile(`OTEL_\S+`).FindAllString(commands, -1)...)
	s := process.ServeWith(t, storetest.SQLite(t), env)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.REST+"/v1/moderation/moderators", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	collector.Wait(t, "GET /v1/moderation/moderators")
	for _, want := range []string{"staging", "moderato", "service.version"} {
		if !strings.Contains(string(collector.Bodies()[0]), want) {
			t.Errorf("the resource has no %s", want)
		}
	}
}

// TestUnusableTracingVariableStopsTheServer checks the exit code and the error.
func TestUnusableTracingVariableStopsTheServer(t *testing.T) {
	t.Parallel()
	env := []string{"OTEL_TRACES_EXPORTER=otlp", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}
	result := process.Run(t, env, "", "serve", process.DBFlag(storetest.SQLite(t)))
	if result.Code != 2 || !strings.Contains(result.Err, `OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" is not supported; use http/protobuf`) {
		t.Errorf("got %+v", result)
	}
}
