// Package jobs runs the work that servers do without a request: removing what has expired,
// erasing what was deleted, sequencing and publishing events. Every server runs every job.
// A job either divides its work into transactions that several servers may run
// concurrently, or works under a Lease, which one server at a time holds.
package jobs

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/server/store"
)

const (
	// backlogInterval is how often the backlog of a job is counted.
	backlogInterval = 15 * time.Second
	// MaxBacklog is the largest backlog that is counted.
	MaxBacklog = 10_000
)

// Job is work that a server repeats.
type Job struct {
	// Name says what the job does, such as "expire mutes". It labels logs and metrics.
	Name string
	// Interval is the time from the start of a run to the start of the next one.
	Interval time.Duration
	// Wake starts a run before the interval is over; nil if nothing does.
	Wake <-chan struct{}
	// Run does the work that is due, or a batch of it. It reports whether there may be
	// more work: then the next run does not wait for the interval. A run that fails is
	// logged and repeated.
	Run func(ctx context.Context) (more bool, err error)
	// Lease, if not nil, is the lease under which the job works. Runs of a server that
	// does not hold it do nothing, and are not recorded.
	Lease *Lease
	// MaxPause, if not 0, is the maximum pause after a run that failed. The pause grows
	// exponentially from the interval. If it is 0, the pause is the interval.
	MaxPause time.Duration
	// MaxRest, if not 0, makes the job rest after each run, for restFactor times the
	// duration of the run and at most MaxRest, so that other work can use the database.
	// The rest also applies between batches.
	MaxRest time.Duration
	// Backlog counts the work that is due, up to MaxBacklog; nil if that cannot be
	// counted.
	Backlog func(ctx context.Context) (int64, error)
	// Stop ends the job when the server stops; nil if there is nothing to do.
	Stop func(ctx context.Context)
}

// All returns a Run function for work that leaves nothing to do unless it fails.
func All(work func(context.Context) error) func(context.Context) (more bool, err error) {
	return func(ctx context.Context) (bool, error) { return false, work(ctx) }
}

// restFactor is how many times the duration of a run a job with MaxRest rests after it.
const restFactor = 4

// Runner runs jobs, and records metrics of each.
type Runner struct {
	log *slog.Logger

	mu       sync.Mutex
	statuses map[string]*Status

	duration    *prometheus.HistogramVec
	lastSuccess *prometheus.GaugeVec
	failures    *prometheus.CounterVec
	backlog     *prometheus.GaugeVec
	interval    *prometheus.GaugeVec
}

// NewRunner returns a Runner, and registers its metrics.
func NewRunner(log *slog.Logger, registry prometheus.Registerer) *Runner {
	labels := []string{"job"}
	r := &Runner{
		log: log, statuses: map[string]*Status{},
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "moderato_job_duration_seconds", Help: "Duration of the runs of a background job.",
			Buckets: []float64{.001, .005, .02, .1, .5, 2, 10, 60, 300},
		}, labels),
		lastSuccess: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "moderato_job_last_success_timestamp_seconds", Help: "Time of the last run of a background job in which this server succeeded, or of the server's start.",
		}, labels),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "moderato_job_failures_total", Help: "Failed runs of a background job, which are repeated.",
		}, labels),
		backlog: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "moderato_job_backlog", Help: "Work of a background job that is due, in rows, up to 10,000.",
		}, labels),
		interval: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "moderato_job_interval_seconds", Help: "Time between two runs of a background job that has nothing to do.",
		}, labels),
	}
	registry.MustRegister(r.duration, r.lastSuccess, r.failures, r.backlog, r.interval)
	return r
}

// Run repeats a job until ctx ends.
func (r *Runner) Run(ctx context.Context, job Job) {
	if job.Stop != nil {
		defer job.Stop(context.WithoutCancel(ctx))
	}
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = job.Interval, max(job.MaxPause, job.Interval)
	// A job that fails from the start has a last success too: an alert must see it.
	r.succeeded(job)
	r.failures.WithLabelValues(job.Name) // 0 until it fails
	r.interval.WithLabelValues(job.Name).Set(job.Interval.Seconds())
	var counted time.Time
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-job.Wake:
		case <-timer.C:
		}
		if job.Backlog != nil && time.Since(counted) >= backlogInterval {
			r.countBacklog(ctx, job) // before the run, which works it off
			counted = time.Now()
		}
		began := time.Now()
		more, err := r.runOnce(ctx, job)
		wait := max(job.Interval-time.Since(began), 0)
		switch {
		case err != nil && job.MaxPause > 0:
			wait = pause.NextBackOff()
		case err == nil:
			pause.Reset()
			if more {
				wait = 0
			}
		}
		rest(ctx, min(restFactor*time.Since(began), job.MaxRest))
		timer.Reset(wait)
	}
}

func (r *Runner) runOnce(ctx context.Context, job Job) (more bool, err error) {
	began := time.Now()
	more, err = job.Run(ctx)
	if err == nil && job.Lease != nil && !job.Lease.IsHeld() {
		r.note(job, func(s *Status) { s.IsElsewhere = true })
		return false, nil // another server does the work
	}
	r.duration.WithLabelValues(job.Name).Observe(time.Since(began).Seconds())
	switch {
	case err == nil:
		r.succeeded(job)
	case ctx.Err() == nil:
		r.failed(job, err)
		r.log.WarnContext(ctx, "background job failed; retrying", "job", job.Name, "error", err)
	}
	return more, err
}

func (r *Runner) countBacklog(ctx context.Context, job Job) {
	n, err := job.Backlog(ctx)
	if err != nil {
		if ctx.Err() == nil {
			r.log.WarnContext(ctx, "counting the backlog of a background job failed", "job", job.Name, "error", err)
		}
		return
	}
	r.backlog.WithLabelValues(job.Name).Set(float64(n))
	r.note(job, func(s *Status) { s.Backlog = n })
}

// CountDue returns a Backlog function: the number of rows of a table in which a column
// with an index is at or before now.
func CountDue(s *store.Store, table, column, condition string) func(context.Context) (int64, error) {
	return func(ctx context.Context) (int64, error) {
		now, args := s.Clock.Expression()
		return Count(ctx, s, "SELECT 1 FROM "+table+" WHERE "+column+" <= "+now+" AND "+condition, args...)
	}
}

// Count returns the number of rows that a query selects, up to MaxBacklog.
func Count(ctx context.Context, s *store.Store, query string, args ...any) (n int64, err error) {
	err = store.QueryRow(ctx, s.Read, "SELECT COUNT(*) FROM ("+query+store.Limit(MaxBacklog)+") due", args, &n)
	return n, err
}

func rest(ctx context.Context, pause time.Duration) {
	if pause <= 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
}
