// Package jobs runs the work that servers do without a request: removing what has expired,
// erasing what was deleted, sequencing and publishing events. Every server runs every job.
// A job either divides its work into transactions that several servers may run
// concurrently, or works under a Lease, which one server at a time holds.
package jobs

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
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
	// Due returns a query that selects the rows that are to be handled. At each interval, the
	// Runner asks in one statement for all jobs whether there is a row, and runs only those
	// that have one. If Due is nil, the job runs at each interval.
	Due func() (query string, args []any)
	// IsUncounted is true if a run leaves the rows that Due selects, so they are no backlog.
	IsUncounted bool
	// IsActive, if not nil, reports whether the job must run at each interval, whatever is
	// due. A job without Due does not run while it is inactive, unless it is woken. Any
	// goroutine may call IsActive.
	IsActive func() bool
	// Run does the work that is due, or a batch of it. It reports whether there may be
	// more work: then the next run does not wait for the interval. A run that fails is
	// logged and repeated.
	Run func(ctx context.Context) (more bool, err error)
	// Lease, if not nil, is the lease under which the job works. Runs of a server that
	// does not hold it do nothing, and are not recorded.
	Lease *Lease
	// IsElsewhere, if not nil, reports whether another server does the work. Then this one does not look
	// for it. The job must have a Due, and allow that several servers run it for a moment.
	IsElsewhere func() bool
	// MaxPause, if not 0, is the maximum pause after a run that failed. The pause grows
	// exponentially from the interval. If it is 0, the pause is the interval.
	MaxPause time.Duration
	// MaxRest, if not 0, makes the job rest after each run, for restFactor times the
	// duration of the run and at most MaxRest, so that other work can use the database.
	// The rest also applies between batches.
	MaxRest time.Duration
	// Behind returns for how long the oldest work has been due; nil if that is not known.
	Behind func(ctx context.Context) (time.Duration, error)
	// Removed counts the rows that the runs on this server removed; nil if they are not counted.
	Removed *atomic.Int64
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
	store *store.Store
	log   *slog.Logger

	mu       sync.Mutex
	statuses map[string]*Status

	duration    *prometheus.HistogramVec
	lastSuccess *prometheus.GaugeVec
	failures    *prometheus.CounterVec
	backlog     *prometheus.GaugeVec
	interval    *prometheus.GaugeVec
	behind      *prometheus.GaugeVec
	registry    prometheus.Registerer
}

// NewRunner returns a Runner, and registers its metrics.
func NewRunner(s *store.Store, log *slog.Logger, registry prometheus.Registerer) *Runner {
	labels := []string{"job"}
	r := &Runner{
		store: s, log: log, statuses: map[string]*Status{}, registry: registry,
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
		behind: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "moderato_job_behind_seconds", Help: "For how long the oldest work of a background job has been due.",
		}, labels),
		interval: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "moderato_job_interval_seconds", Help: "Time between two runs of a background job that has nothing to do.",
		}, labels),
	}
	registry.MustRegister(r.duration, r.lastSuccess, r.failures, r.backlog, r.interval, r.behind)
	return r
}

// Run repeats jobs until ctx ends.
func (r *Runner) Run(ctx context.Context, all ...Job) {
	var loops sync.WaitGroup
	repeated := make([]*started, len(all))
	for i, job := range all {
		repeated[i] = start(job)
		loops.Go(func() { r.repeat(ctx, repeated[i]) })
	}
	r.look(ctx, repeated)
	loops.Wait()
}

// repeat repeats a job until ctx ends.
func (r *Runner) repeat(ctx context.Context, job *started) {
	if job.Stop != nil {
		defer job.Stop(context.WithoutCancel(ctx))
	}
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = job.Interval, max(job.MaxPause, job.Interval)
	// A job that fails from the start has a last success too: an alert must see it.
	r.succeeded(job.Job)
	r.failures.WithLabelValues(job.Name) // 0 until it fails
	r.interval.WithLabelValues(job.Name).Set(job.Interval.Seconds())
	if job.Removed != nil {
		r.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "moderato_job_removed_rows_total", Help: "Rows that a background job removed on this server because of their age.",
			ConstLabels: prometheus.Labels{"job": job.Name},
		}, func() float64 { return float64(job.Removed.Load()) }))
	}
	var counted time.Time
	timer := time.NewTimer(0)
	defer timer.Stop()
	if job.Due != nil {
		timer.Stop() // the first look starts it
	}
	for {
		isRenewal := false // of the lease, while nothing is due
		select {
		case <-ctx.Done():
			return
		case <-job.Wake:
		case <-job.isDue:
		case <-timer.C:
			isRenewal = job.asks.Load() != nothing
		}
		job.asks.Store(nothing)
		if !isRenewal && time.Since(counted) >= backlogInterval {
			r.countBacklog(ctx, job) // before the run, which works it off
			counted = time.Now()
		}
		began := time.Now()
		more, err := r.runOnce(ctx, job.Job)
		wait := max(job.Interval-time.Since(began), 0)
		isTimed := true
		switch {
		case err != nil && job.MaxPause > 0:
			wait = pause.NextBackOff()
		case err == nil:
			pause.Reset()
			wait, isTimed = job.next(wait, more)
		}
		rest(ctx, min(restFactor*time.Since(began), job.MaxRest))
		timer.Stop()
		if isTimed {
			timer.Reset(wait)
		}
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

func rest(ctx context.Context, pause time.Duration) {
	if pause <= 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
}
