// Package status is the first page of the admin address: it tells people on call whether a
// server is healthy and, if not, what is wrong.
package status

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/server/event/webhooks"
	"github.com/moderato-live/moderato/server/store/jobs"
)

const (
	// timeout bounds what the page asks of the database.
	timeout = 2 * time.Second
	// maxFailing is how many failing webhooks are listed.
	maxFailing = 20
)

// Sources is what the page reads.
type Sources struct {
	// Version is that of the program, and Store names the database without its account.
	Version, Store string
	// Docs returns the address of the documentation.
	Docs    func() string
	Started time.Time
	// Ready returns why the server takes no requests.
	Ready func(context.Context) error
	// Primary returns the primary of a database cluster; empty without a cluster.
	Primary func() string
	// Holder returns which server orders the events; empty if none does.
	Holder func(context.Context) (string, error)
	Jobs   func() []jobs.Status
	// Failing returns the webhooks that fail, up to a limit.
	Failing func(ctx context.Context, limit int) ([]webhooks.Failing, error)
	Metrics prometheus.Gatherer
}

// report is what the page shows.
type report struct {
	Sources

	Now      time.Time
	Problems []problem
	Streams  []count
	Jobs     []jobs.Status
	Webhooks []webhooks.Failing
	Holder   string
}

// problem is something that is wrong.
type problem struct {
	// Text is a sentence without its period.
	Text string
	// Alert is the alert in the runbook that says what to do; empty if none does.
	Alert string
	// IsMinor is true if the server serves all requests nevertheless.
	IsMinor bool
}

// count is a number of things of a kind.
type count struct {
	Name   string
	Number float64
}

// read asks all sources.
func (s Sources) read(ctx context.Context) *report {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r := &report{Sources: s, Now: time.Now(), Jobs: s.Jobs()}
	measured := gather(s.Metrics)
	r.Streams = []count{
		{"event streams, over gRPC and Server-Sent Events", measured["moderato_event_streams"]},
		{"Socket.IO sessions", measured["moderato_socketio_sessions"]},
		{"streams of chat servers", measured["moderato_standing_streams"]},
	}
	if err := s.Ready(ctx); err != nil {
		r.found(problem{Text: "it takes no requests: " + err.Error()})
		r.Holder = "unknown"
	} else {
		r.readDatabase(ctx)
	}
	r.judge(measured)
	r.sortJobs()
	return r
}

func (r *report) found(p problem) { r.Problems = append(r.Problems, p) }

// readDatabase reads what only the database knows.
func (r *report) readDatabase(ctx context.Context) {
	holder, err := r.Sources.Holder(ctx)
	switch {
	case err != nil:
		r.found(problem{Text: "the database does not say who orders events: " + err.Error()})
	case holder == "" && time.Since(r.Started) > timeout:
		r.found(problem{Text: "no server orders events, so listeners and webhooks receive nothing new", Alert: "ModeratoSequencer"})
	}
	r.Holder = holder
	if r.Webhooks, err = r.Failing(ctx, maxFailing); err != nil {
		r.found(problem{Text: "the webhooks cannot be read: " + err.Error()})
	}
}

// gather returns the metrics without labels, and the sums of those with labels.
func gather(from prometheus.Gatherer) map[string]float64 {
	all := map[string]float64{}
	families, _ := from.Gather() // what can be read
	for _, f := range families {
		for _, m := range f.GetMetric() {
			all[f.GetName()] += m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return all
}
