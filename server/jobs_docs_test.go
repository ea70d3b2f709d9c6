package server_test

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moderato-live/moderato/server/event/bus"
	"github.com/moderato-live/moderato/test/doctest"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestDocumentationListsEveryJob compares the jobs in the metrics with those in the documentation.
func TestDocumentationListsEveryJob(t *testing.T) {
	_, section, _ := strings.Cut(doctest.Read(t, "docs/metrics.md"), "| job | interval |")
	section, _, _ = strings.Cut(section, "\n\n")
	want := names(regexp.MustCompile("(?m)^\\| `([^`]+)` \\|"), section)
	s := servertest.Start(t, servertest.Config(storetest.SQLite(t)))
	var got []string
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		// A server without NATS and without TLS does not run these jobs.
		got = append(jobsOf(t, s), (&bus.Sink{}).Job().Name, "reload certificates", "connect chat to NATS", "find readers of chat")
		slices.Sort(got)
		if len(got) >= len(want) { // the jobs start one after the other
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("jobs (-docs/metrics.md +metrics):\n%s", diff)
	}
}

// jobsOf returns the label job of the server's metrics.
func jobsOf(t *testing.T, s *servertest.Server) []string {
	t.Helper()
	r := s.Request(t, servertest.Credentials{}, http.MethodGet, "/", "")
	r.URL.Host, r.URL.Path = s.AdminAddr, "/metrics"
	return names(regexp.MustCompile(`moderato_job_last_success_timestamp_seconds\{job="([^"]+)"\}`), s.Do(t, r).Body)
}

// names returns what the group of a pattern matches in a text, sorted and without repeats.
func names(pattern *regexp.Regexp, text string) []string {
	found := map[string]bool{}
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		found[match[1]] = true
	}
	return slices.Sorted(maps.Keys(found))
}
