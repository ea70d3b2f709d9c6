package deploy_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/moderato-live/moderato/internal/certificates"
	"github.com/moderato-live/moderato/internal/certificates/certtest"
	"github.com/moderato-live/moderato/server"
	"github.com/moderato-live/moderato/test/doctest"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

const (
	alertsFile    = "prometheus/alerts.yml"
	dashboardFile = "grafana/dashboard.json"
)

// alert is a rule of alerts.yml.
type alert struct {
	Alert, Expr         string
	Labels, Annotations map[string]string
}

func alerts(t *testing.T) []alert {
	t.Helper()
	var file struct {
		Groups []struct{ Rules []alert }
	}
	if err := yaml.Unmarshal(read(t, alertsFile), &file); err != nil {
		t.Fatal(err)
	}
	var all []alert
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	if len(all) == 0 {
		t.Fatal("there are no alerts")
	}
	return all
}

// dashboardQueries returns the queries of the dashboard by the titles of their panels.
func dashboardQueries(t *testing.T) map[string][]string {
	t.Helper()
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
		Templating struct {
			List []struct{ Query any }
		}
	}
	if err := json.Unmarshal(read(t, dashboardFile), &dashboard); err != nil {
		t.Fatal(err)
	}
	queries := map[string][]string{}
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			queries[p.Title] = append(queries[p.Title], target.Expr)
		}
	}
	if len(queries) < 20 {
		t.Fatalf("found %d panels", len(queries))
	}
	return queries
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// startServer starts a server that serves TLS, so that it has every metric.
func startServer(t *testing.T) *servertest.Server {
	t.Helper()
	config := servertest.Config(storetest.SQLite(t))
	cert, key := certtest.NewAuthority(t).Files(t, t.TempDir(), "127.0.0.1", 30*24*time.Hour)
	config.GRPCTLS = certificates.Files{Cert: cert, Key: key}
	s := servertest.Start(t, config)
	s.Load(t, servertest.World()...)
	s.REST(t, s.As(t, servertest.Owner), "GET", "/v1/users/profile", "")
	return s
}

// TestEveryMetricExists compares the metrics of the dashboard and the alerts with those
// that a server has. Counters with labels appear with their first event: these are looked
// up in the source.
func TestEveryMetricExists(t *testing.T) {
	t.Parallel()
	live := startServer(t).Metrics(t)
	source := sources(t)
	exists := func(name string) bool {
		return regexp.MustCompile(`(?m)^`+name+`(\{| )`).MatchString(live) || strings.Contains(source, `"`+name+`"`)
	}
	queries := dashboardQueries(t)
	for _, a := range alerts(t) {
		queries[a.Alert] = []string{a.Expr}
	}
	n := 0
	for where, exprs := range queries {
		for _, expr := range exprs {
			for _, name := range regexp.MustCompile(`\b(moderato|go|process)_[a-z_]+`).FindAllString(expr, -1) {
				if n++; !exists(name) {
					t.Errorf("%s: no server has the metric %s", where, name)
				}
			}
		}
	}
	if n < 50 {
		t.Errorf("found %d metrics in the queries", n)
	}
	if exists("moderato_request_total") {
		t.Error("the test finds metrics that do not exist")
	}
}

// sources returns the source of the packages that have metrics.
func sources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, dir := range []string{"../server", "../gateway", "../internal"} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				all.Write(read(t, path))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}

// TestEveryAlertHasItsParagraph compares the alerts with docs/operations.md and with the
// tests of the rules.
func TestEveryAlertHasItsParagraph(t *testing.T) {
	t.Parallel()
	const page = "{{ $externalLabels.moderato_url }}/docs/operations#"
	document := doctest.Read(t, "docs/operations.md")
	tests := string(read(t, "prometheus/alerts_test.yml"))
	var names []string
	for _, a := range alerts(t) {
		names = append(names, a.Alert)
		severity := a.Labels["severity"]
		if !slices.Contains([]string{"page", "ticket"}, severity) {
			t.Errorf("%s has the severity %q", a.Alert, severity)
		}
		_, paragraph, _ := strings.Cut(document, "\n### "+a.Alert+"\n\n")
		paragraph, _, _ = strings.Cut(paragraph, "\n")
		if !strings.Contains(paragraph, "("+severity+")") {
			t.Errorf("docs/operations.md has no paragraph about %s with the severity (%s): %q", a.Alert, severity, paragraph)
		}
		if got, want := a.Annotations["runbook_url"], page+strings.ToLower(a.Alert); got != want {
			t.Errorf("%s: the runbook is at %s, want %s", a.Alert, got, want)
		}
		if a.Annotations["summary"] == "" {
			t.Errorf("%s has no summary", a.Alert)
		}
		if !strings.Contains(tests, `alertname="`+a.Alert+`", severity="`+severity+`"`) {
			t.Errorf("alerts_test.yml does not test that %s fires", a.Alert)
		}
	}
	for _, heading := range regexp.MustCompile(`(?m)^### (Moderato\w+)$`).FindAllStringSubmatch(document, -1) {
		if !slices.Contains(names, heading[1]) {
			t.Errorf("docs/operations.md describes the alert %s, which does not exist", heading[1])
		}
	}
}

// TestSettingsExist checks the variables in the files, the ports and the times that must
// fit to each other.
func TestSettingsExist(t *testing.T) {
	t.Parallel()
	documented := doctest.Read(t, "docs/flags.md")
	variables := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, ".go") {
			return err
		}
		text := read(t, path)
		for _, name := range regexp.MustCompile(`\bMODERATO_[A-Z_]+`).FindAllString(string(text), -1) {
			flag := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, "MODERATO_"), "_", "-"))
			if variables++; !strings.Contains(documented, "| `--"+flag+"` | ") {
				t.Errorf("%s: there is no variable %s", path, name)
			}
		}
		if ext := filepath.Ext(path); ext == ".yml" || ext == ".yaml" {
			checkYAML(t, path, string(text))
		}
		return nil
	})
	if err != nil || variables < 10 {
		t.Errorf("found %d variables (%v)", variables, err)
	}
	for file, want := range map[string]string{
		"kubernetes/deployment.yaml": "httpGet: {path: /readyz, port: admin}",
		"compose/haproxy.cfg":        "GET /readyz",
	} {
		if !strings.Contains(string(read(t, file)), want) {
			t.Errorf("%s does not have %s", file, want)
		}
	}
	for file, grace := range map[string]*regexp.Regexp{
		"kubernetes/deployment.yaml": regexp.MustCompile(`terminationGracePeriodSeconds: (\d+)`),
		"compose/compose.yaml":       regexp.MustCompile(`stop_grace_period: (\d+)s`),
		"systemd/moderato.service":   regexp.MustCompile(`TimeoutStopSec=(\d+)s`),
	} {
		text := string(read(t, file))
		delay := "0"
		if found := regexp.MustCompile(`MODERATO_DRAIN_DELAY[,:] (?:value: )?(\d+)s`).FindStringSubmatch(text); found != nil {
			delay = found[1]
		}
		found := grace.FindStringSubmatch(text)
		if found == nil || seconds(t, found[1]) <= seconds(t, delay)+server.DrainTimeout {
			t.Errorf("%s kills a server before its drain can end: %q after a delay of %s s", file, found, delay)
		}
	}
}

func seconds(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text + "s")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// checkYAML checks that every document of a file can be parsed.
func checkYAML(t *testing.T, path, text string) {
	t.Helper()
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var document any
		err := decoder.Decode(&document)
		if err != nil {
			if err.Error() != "EOF" {
				t.Errorf("%s: %v", path, err)
			}
			return
		}
	}
}
