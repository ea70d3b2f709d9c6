package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// runTimes runs a job until it has run n times and the last run is recorded, and returns
// its metrics.
func runTimes(t *testing.T, n int, job jobs.Job) map[string]float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	ctx, cancel := context.WithCancel(t.Context())
	run, runs := job.Run, 0
	job.Run = func(ctx context.Context) (bool, error) {
		if runs == n { // the runs before it are recorded
			cancel()
			return false, ctx.Err()
		}
		runs++
		return run(ctx)
	}
	jobs.NewRunner(slog.New(slog.DiscardHandler), registry).Run(ctx, job)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	metrics := map[string]float64{}
	for _, family := range families {
		metric := family.GetMetric()[0]
		metrics[family.GetName()] = metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
	}
	return metrics
}

// TestOnlyLeaseHolderRecordsSuccess has a server that holds the lease and one that does
// not.
func TestOnlyLeaseHolderRecordsSuccess(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		for _, isHolder := range []bool{true, false} {
			lease := newLease(s)
			if take(t, lease) != isHolder {
				t.Fatalf("the lease is held: %t", !isHolder)
			}
			var ran time.Time
			metrics := runTimes(t, 1, jobs.Job{Name: "work", Interval: time.Millisecond, Lease: lease, Run: jobs.All(func(context.Context) error {
				time.Sleep(2 * time.Millisecond) // later than the start
				ran = time.Now()
				return nil
			})})
			last := metrics["moderato_job_last_success_timestamp_seconds"]
			if isRecorded := last >= float64(ran.UnixNano())/1e9; isRecorded != isHolder {
				t.Errorf("the server holds the lease: %t, and records its run: %t", isHolder, isRecorded)
			}
		}
	})
}

func TestBatchesDoNotWaitForInterval(t *testing.T) {
	began := time.Now()
	const batches, interval = 3, time.Minute
	runTimes(t, batches, jobs.Job{Name: "work", Interval: interval, Run: func(context.Context) (bool, error) { return true, nil }})
	if took := time.Since(began); took > interval {
		t.Errorf("%d batches took %s", batches, took)
	}
}

func TestFailedRunsAreCounted(t *testing.T) {
	metrics := runTimes(t, 2, jobs.Job{Name: "work", Interval: time.Millisecond, Run: jobs.All(func(context.Context) error { return errors.New("failure") })})
	if n := metrics["moderato_job_failures_total"]; n != 2 {
		t.Errorf("%v failures are counted, want 2", n)
	}
}
