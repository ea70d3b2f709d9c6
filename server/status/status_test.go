package status_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/server/event/webhooks"
	"github.com/moderato-live/moderato/server/status"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// healthy returns the sources of a server to which nothing has happened.
func healthy() status.Sources {
	return status.Sources{
		Version: "1.2.3", Store: "mysql://db/moderato", Docs: func() string { return "https://api.example.com" }, Started: time.Now().Add(-time.Hour),
		Ready: func(context.Context) error { return nil }, Primary: func() string { return "" },
		Holder:  func(context.Context) (string, error) { return "another server", nil },
		Jobs:    func() []jobs.Status { return []jobs.Status{{Name: "expire bans", LastSuccess: time.Now(), Backlog: 7}} },
		Failing: func(context.Context, int) ([]webhooks.Failing, error) { return nil, nil },
		Metrics: prometheus.NewRegistry(),
	}
}

func show(t *testing.T, s status.Sources) string {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	return w.Body.String()
}

// TestVerdictSaysWhatIsWrong breaks one thing after the other.
func TestVerdictSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	job := func(s jobs.Status) func(*status.Sources) {
		return func(from *status.Sources) { from.Jobs = func() []jobs.Status { return []jobs.Status{s} } }
	}
	measures := func(pairs ...any) func(*status.Sources) {
		return func(from *status.Sources) {
			registry := prometheus.NewRegistry()
			for pair := range slices.Chunk(pairs, 2) {
				gauge := prometheus.NewGauge(prometheus.GaugeOpts{Name: pair[0].(string)})
				gauge.Set(pair[1].(float64))
				registry.MustRegister(gauge)
			}
			from.Metrics = registry
		}
	}
	long := time.Now().Add(-30 * time.Minute)
	for _, c := range []struct {
		name    string
		breaks  func(*status.Sources)
		verdict string
		others  []string
	}{
		{"nothing", func(*status.Sources) {}, "Healthy: the database answers, events are in order, and every job runs.", []string{"1.2.3", "mysql://db/moderato", "another server", ">7<"}},
		{"the database", func(s *status.Sources) {
			s.Ready = func(context.Context) error { return errors.New("the database does not answer") }
		}, "Not healthy: it takes no requests: the database does not answer.", []string{"unknown"}},
		{"the order", func(s *status.Sources) { s.Holder = func(context.Context) (string, error) { return "", nil } }, "Not healthy: no server orders events, so listeners and webhooks receive nothing new.", []string{"nobody", "https://api.example.com/docs/operations#moderatosequencer"}},
		{"a job", job(jobs.Status{Name: "expire bans", LastSuccess: long, LastError: "no table <bans>"}), "Not healthy: the job “expire bans” has not succeeded for 30 minutes.", []string{"no table &lt;bans&gt;", "#moderatojobstale"}},
		{"a run", job(jobs.Status{Name: "expire bans", LastSuccess: time.Now(), LastError: "deadlock"}), "Healthy, but the latest run of the job “expire bans” failed.", []string{"deadlock"}},
		{"a cause of several", func(s *status.Sources) {
			failed := jobs.Status{Name: "expire bans", LastSuccess: time.Now(), LastError: "database is locked"}
			s.Jobs = func() []jobs.Status { return []jobs.Status{failed, failed, failed} }
			s.Holder = func(context.Context) (string, error) { return "", nil }
		}, "Not healthy: 3 jobs fail: database is locked (and 4 more).", nil},
		{"a backlog", job(jobs.Status{Name: "expire bans", LastSuccess: time.Now(), Backlog: jobs.MaxBacklog}), "Healthy, but the job “expire bans” has 10,000 rows or more to handle.", []string{"#moderatobacklog"}},
		{"an hourly job", job(jobs.Status{Name: "remove old chatters", Interval: time.Hour, LastSuccess: long}), "Healthy: the database answers, events are in order, and every job runs.", nil},
		{"a job elsewhere", job(jobs.Status{Name: "sequence events", LastSuccess: long, IsElsewhere: true}), "Healthy: the database answers, events are in order, and every job runs.", []string{"on another server"}},
		{"a certificate", measures("moderato_tls_certificate_expiry_timestamp_seconds", float64(time.Now().Add(48*time.Hour).Unix())), "Not healthy: a certificate expires at ", []string{"#moderatocertificateexpires"}},
		{"a new certificate", measures("moderato_tls_certificate_expiry_timestamp_seconds", float64(time.Now().Add(30*24*time.Hour).Unix())), "Healthy: ", nil},
		{"the descriptors", measures("process_max_fds", 100.0, "process_open_fds", 81.0), "Not healthy: 81 of 100 files and connections are open.", []string{"#moderatodescriptors"}},
		{"the primary", func(s *status.Sources) { s.Primary = func() string { return "db2:3306" } }, "Healthy: ", []string{"primary db2:3306"}},
	} {
		s := healthy()
		c.breaks(&s)
		page := show(t, s)
		for _, want := range append(c.others, c.verdict+map[bool]string{true: "</h1>"}[strings.HasSuffix(c.verdict, ".")]) {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page has no %q:\n%s", c.name, want, page)
			}
		}
	}
}

// TestPageOfAServer reads the page of a server, before and after a webhook fails.
func TestPageOfAServer(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		config := servertest.Config(url)
		config.Version, config.WebhookAllowPrivate = "1.2.3", true
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		page := until(t, s, "<h1 class=\"ok\">Healthy: ", "this server", "expire bans", "1.2.3")
		if regexp.MustCompile(`(?i)<(script|img|link|iframe)|url\(|@import`).MatchString(page) {
			t.Errorf("the page loads something:\n%s", page)
		}
		owner := s.As(t, servertest.Owner)
		created := s.REST(t, owner, http.MethodPost, "/v1/webhooks", `{"url":"http://127.0.0.1:1/?key=SECRET","type":["channel.ban"]}`)
		banned := s.REST(t, owner, http.MethodPost, "/v1/moderation/ban", `{"channelId":"`+servertest.Owner.String()+`","banUserId":"`+servertest.Viewer.String()+`"}`)
		if created.Status != http.StatusOK || banned.Status != http.StatusOK {
			t.Fatalf("got %v and %v", created, banned)
		}
		page = until(t, s, "Healthy, but a webhook fails.", "<td>127.0.0.1:1</td>", "refused the connection")
		if strings.Contains(page, "SECRET") {
			t.Error("the page shows the URL of a receiver")
		}
	})
}

// until reads the page of the admin address until it has some texts.
func until(t *testing.T, s *servertest.Server, wants ...string) string {
	t.Helper()
	var got servertest.Response
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		r := s.Request(t, servertest.Credentials{}, http.MethodGet, "/", "")
		r.URL.Host = s.AdminAddr
		if got = s.Do(t, r); !slices.ContainsFunc(wants, func(want string) bool { return !strings.Contains(got.Body, want) }) {
			policy := got.Header.Get("Content-Security-Policy")
			if !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") || strings.Contains(policy, "unsafe") || got.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("got %v", got.Header)
			}
			return got.Body
		}
	}
	t.Fatalf("the page has not %q:\n%s", wants, got.Body)
	return ""
}
