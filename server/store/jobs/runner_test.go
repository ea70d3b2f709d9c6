package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/ent"
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
	jobs.NewRunner(nil, slog.New(slog.DiscardHandler), registry).Run(ctx, job)
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

// TestJobRunsWhenWorkIsDue has a job with work that begins later, and one that is active without
// work. A job without work does not run, nor one whose work another server does.
func TestJobRunsWhenWorkIsDue(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		var isActive, isHere atomic.Bool
		ran := map[string]store.Signal{}
		job := func(name, condition string) jobs.Job {
			runs := store.NewSignal()
			ran[name] = runs
			return jobs.Job{Name: name, Interval: time.Millisecond, Due: jobs.Rows("SELECT 1 FROM event_sinks WHERE " + condition), Run: jobs.All(func(context.Context) error {
				runs.Raise()
				return nil
			})}
		}
		due, active, idle, moved := job("due", "position > 0"), job("active", "1 = 0"), job("idle", "1 = 0"), job("moved", "1 = 1")
		active.IsActive = isActive.Load
		moved.IsElsewhere = func() bool { return !isHere.Load() }
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			jobs.NewRunner(s, slog.New(slog.DiscardHandler), prometheus.NewRegistry()).Run(ctx, due, active, idle, moved)
		}()
		time.Sleep(300 * time.Millisecond)
		for name, runs := range ran {
			if len(runs) > 0 {
				t.Errorf("the job %q runs without work", name)
			}
		}
		isActive.Store(true)
		isHere.Store(true)
		if err := s.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			return tx.EventSink.Update().SetPosition(1).Exec(ctx)
		}); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"due", "active", "moved"} {
			select {
			case <-ran[name]:
			case <-time.After(5 * time.Second):
				t.Errorf("the job %q does not run", name)
			}
		}
		stop()
		<-ended
		if len(ran["idle"]) > 0 {
			t.Error("the idle job runs")
		}
	})
}

// TestIdleHolderKeepsLease runs a job under a lease, which has nothing to do, and one of another
// server, which would take the lease. Its job renews the lease as Sequencer.Turn does.
func TestIdleHolderKeepsLease(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Second) // longer than a term
		defer stop()
		var took atomic.Int64
		run := func() {
			lease := newLease(s)
			jobs.NewRunner(s, slog.New(slog.DiscardHandler), prometheus.NewRegistry()).Run(ctx, jobs.Job{
				Name: "work", Interval: time.Millisecond, Lease: lease, Due: jobs.Rows("SELECT 1 FROM event_sinks WHERE position > 0"),
				Run: jobs.All(func(ctx context.Context) error {
					held := lease.IsHeld()
					if isMine, err := lease.Take(ctx); err != nil || !isMine {
						return err
					}
					if !held {
						took.Add(1)
					}
					return lease.RenewInTime(ctx)
				}),
			})
		}
		var servers sync.WaitGroup
		for range 2 {
			servers.Go(run)
		}
		servers.Wait()
		if n := took.Load(); n != 1 {
			t.Errorf("the lease was taken %d times, want once", n)
		}
	})
}
