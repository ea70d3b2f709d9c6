package status

import (
	"fmt"
	"slices"
	"time"

	"github.com/moderato-live/moderato/server/store/jobs"
)

// The limits of the alerts in deploy/prometheus.
const (
	fullDescriptors = 0.8
	expiresSoon     = 7 * 24 * time.Hour
)

// judge finds what is wrong, the worst first.
func (r *report) judge(measured map[string]float64) {
	r.findCommonCause()
	for _, j := range r.Jobs {
		if j.IsStale(r.Now) {
			r.found(problem{Text: fmt.Sprintf("the job “%s” has not succeeded for %s", j.Name, ago(r.Now, j.LastSuccess)), Alert: "ModeratoJobStale"})
		}
	}
	if limit := measured["process_max_fds"]; limit > 0 && measured["process_open_fds"] > fullDescriptors*limit {
		r.found(problem{Text: fmt.Sprintf("%.0f of %.0f files and connections are open", measured["process_open_fds"], limit), Alert: "ModeratoDescriptors"})
	}
	if at := r.earliestExpiry(); !at.IsZero() && at.Sub(r.Now) < expiresSoon {
		r.found(problem{Text: "a certificate expires at " + at.UTC().Format(time.RFC3339), Alert: "ModeratoCertificateExpires"})
	}
	for _, j := range r.Jobs {
		switch {
		case j.IsStale(r.Now):
		case j.Backlog >= jobs.MaxBacklog:
			r.found(problem{Text: fmt.Sprintf("the job “%s” has 10,000 rows or more to handle", j.Name), Alert: "ModeratoBacklog", IsMinor: true})
		case j.LastError != "":
			r.found(problem{Text: fmt.Sprintf("the latest run of the job “%s” failed", j.Name), IsMinor: true})
		}
	}
	switch n := len(r.Webhooks); {
	case n == 1:
		r.found(problem{Text: "a webhook fails", Alert: "ModeratoWebhooksLate", IsMinor: true})
	case n == maxFailing:
		r.found(problem{Text: fmt.Sprintf("%d webhooks or more fail", n), Alert: "ModeratoWebhooksLate", IsMinor: true})
	case n > 1:
		r.found(problem{Text: fmt.Sprintf("%d webhooks fail", n), Alert: "ModeratoWebhooksLate", IsMinor: true})
	}
}

// common is how many jobs fail for one cause before it counts as the cause of everything else.
const common = 3

// findCommonCause puts an error that several jobs have before all that follows from it, such as
// a database that refuses writes.
func (r *report) findCommonCause() {
	failing := map[string]int{}
	for _, j := range r.Jobs {
		if j.LastError != "" {
			failing[j.LastError]++
		}
	}
	for text, n := range failing {
		if n >= common {
			cause := problem{Text: fmt.Sprintf("%d jobs fail: %s", n, text), Alert: "ModeratoJobStale"}
			r.Problems = slices.Insert(r.Problems, 0, cause)
		}
	}
}

// sortJobs puts jobs with a problem first.
func (r *report) sortJobs() {
	rank := func(j jobs.Status) int {
		switch {
		case j.IsStale(r.Now):
			return 0
		case j.LastError != "" || j.Backlog >= jobs.MaxBacklog:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(r.Jobs, func(a, b jobs.Status) int { return rank(a) - rank(b) })
}

// earliestExpiry returns when the first certificate expires; zero without TLS.
func (r *report) earliestExpiry() (at time.Time) {
	families, _ := r.Metrics.Gather() // what can be read
	for _, f := range families {
		if f.GetName() != "moderato_tls_certificate_expiry_timestamp_seconds" {
			continue
		}
		for _, m := range f.GetMetric() {
			if expires := time.Unix(int64(m.GetGauge().GetValue()), 0); at.IsZero() || expires.Before(at) {
				at = expires
			}
		}
	}
	return at
}

// State is how the server is, in one word: ok, minor or bad.
func (r *report) State() string {
	state := "ok"
	for _, p := range r.Problems {
		if !p.IsMinor {
			return "bad"
		}
		state = "minor"
	}
	return state
}

// Verdict answers in one sentence whether the server is healthy and, if not, what is wrong.
func (r *report) Verdict() string {
	if len(r.Problems) == 0 {
		return "Healthy: the database answers, events are in order, and every job runs."
	}
	text := r.Problems[0].Text
	if more := len(r.Problems) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	if r.State() == "minor" {
		return "Healthy, but " + text + "."
	}
	return "Not healthy: " + text + "."
}

// ago returns how long an instant is past.
func ago(now, at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	switch d := now.Sub(at); {
	case d < time.Second:
		return "under 1 s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f minutes", d.Minutes())
	case d < 48*time.Hour:
		return fmt.Sprintf("%.0f hours", d.Hours())
	default:
		return fmt.Sprintf("%.0f days", d.Hours()/24)
	}
}
