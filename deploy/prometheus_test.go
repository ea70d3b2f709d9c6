package deploy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPrometheusAcceptsEverything checks the rules, their tests, the configuration and the
// metrics of a server with promtool, and runs every query with a Prometheus that scrapes
// the server. It needs both programs, which make deploy-check provides.
func TestPrometheusAcceptsEverything(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"promtool", "prometheus"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is missing; make deploy-check provides it", program)
		}
	}
	s := startServer(t)
	promtool(t, "", "check", "rules", "alerts.yml")
	promtool(t, "", "test", "rules", "alerts_test.yml")
	promtool(t, "", "check", "config", "prometheus.yml")
	promtool(t, s.Metrics(t), "check", "metrics")

	address := startPrometheus(t, s.AdminAddr)
	waitForSamples(t, address)
	constants := strings.NewReplacer("$job", ".*", "$instance", ".*", "$__rate_interval", "1m")
	for title, exprs := range dashboardQueries(t) {
		for _, expr := range exprs {
			if _, err := query(t, address, constants.Replace(expr)); err != nil {
				t.Errorf("%s: %s: %v", title, expr, err)
			}
		}
	}
	for _, a := range alerts(t) {
		if n, err := query(t, address, a.Expr); err != nil || n > 0 {
			t.Errorf("%s fires on a server that works, %d times (%v)", a.Alert, n, err)
		}
	}
	for _, expr := range []string{`moderato_event_sequencer == 1`, `moderato_job_last_success_timestamp_seconds{exported_job="sequence events"}`} {
		if n, err := query(t, address, expr); err != nil || n != 1 {
			t.Errorf("%s has %d results (%v), want 1", expr, n, err)
		}
	}
}

func promtool(t *testing.T, input string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "promtool", args...)
	cmd.Dir, cmd.Stdin = "prometheus", strings.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "linting") {
		t.Errorf("promtool %q: %v\n%s", args, err, out)
	}
}

// startPrometheus starts a Prometheus that scrapes a server as the job moderato, and
// returns its address.
func startPrometheus(t *testing.T, target string) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	dir := t.TempDir()
	config := fmt.Sprintf("global: {scrape_interval: 1s}\nscrape_configs: [{job_name: moderato, static_configs: [{targets: [%q]}]}]\n", target)
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, "prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data", "--web.listen-address="+address)
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
	})
	return address
}

// waitForSamples waits until rates can be computed.
func waitForSamples(t *testing.T, address string) {
	t.Helper()
	for late := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if n, err := query(t, address, `rate(moderato_requests_total{job="moderato"}[1m])`); err == nil && n > 0 {
			return
		} else if time.Now().After(late) {
			t.Fatalf("Prometheus has no samples: %v", err)
		}
	}
}

// query runs a query and returns the number of its results.
func query(t *testing.T, address, expr string) (int, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/api/v1/query?query="+url.QueryEscape(expr), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		Status, Error string
		Data          struct{ Result []any }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return 0, err
	}
	if answer.Status != "success" {
		return 0, fmt.Errorf("%s", answer.Error)
	}
	return len(answer.Data.Result), nil
}
