package jobs

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/moderato-live/moderato/server/store"
)

const (
	// lookInterval is how often the Runner looks for work that is due, in one statement for
	// all jobs. It bounds the delay of work that another server left or began, on a server
	// on which nothing else happens.
	lookInterval = 250 * time.Millisecond
	lookTimeout  = 5 * time.Second
)

// What a job asks in a look.
const (
	nothing = iota // it runs, or its timer does
	asksForWork
	asksForLease
)

// started is a job that a Runner repeats.
type started struct {
	Job

	isDue store.Signal
	asks  atomic.Int32
}

func start(job Job) *started {
	s := &started{Job: job, isDue: store.NewSignal()}
	if job.Due != nil {
		s.wait()
	}
	return s
}

// isCounted reports whether the job has a backlog.
func (s *started) isCounted() bool { return s.Due != nil && !s.IsUncounted }

// wait lets the looks decide when the next run is.
func (s *started) wait() {
	if s.Lease != nil && !s.Lease.IsHeld() {
		s.asks.Store(asksForLease)
	} else {
		s.asks.Store(asksForWork)
	}
}

// next returns when the next run is due after one that succeeded, with the rest of the interval
// of that run. If the job is idle, a look decides; a lease that is held must still be renewed.
func (s *started) next(rest time.Duration, more bool) (wait time.Duration, isTimed bool) {
	isHeld := s.Lease == nil || s.Lease.IsHeld()
	switch {
	case more:
		return 0, true
	case s.IsActive == nil && s.Due == nil, isHeld && s.IsActive != nil && s.IsActive():
		return rest, true
	}
	s.wait()
	if s.Lease == nil || !isHeld {
		return 0, false
	}
	return max(time.Until(s.Lease.RenewAt()), 0), true
}

// look looks for work that is due until ctx ends, and starts the jobs that have some.
func (r *Runner) look(ctx context.Context, all []*started) {
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	for n := int64(0); ; n++ {
		var asking []*started
		for _, job := range all {
			switch {
			case job.asks.Load() == nothing || n%max(int64(job.Interval/lookInterval), 1) != 0:
			case job.IsElsewhere != nil && job.IsElsewhere():
				r.note(job.Job, func(s *Status) { s.IsElsewhere = true })
			case !r.isActive(job):
				asking = append(asking, job)
			}
		}
		if err := r.ask(ctx, asking); err != nil && ctx.Err() == nil {
			r.log.WarnContext(ctx, "looking for the work of background jobs failed; each job looks for itself", "error", err)
			for _, job := range asking {
				job.isDue.Raise() // one slow query must not stop the others
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// isActive starts a job that became active while it waited, and reports whether it needs no
// answer.
func (r *Runner) isActive(job *started) bool {
	switch {
	case job.IsActive != nil && job.asks.Load() == asksForWork && job.IsActive():
		job.isDue.Raise()
	case job.Due == nil:
		r.succeeded(job.Job)
	default:
		return false
	}
	return true
}

// ask asks in one statement which jobs have work, or a lease that is free, and starts them.
func (r *Runner) ask(ctx context.Context, asking []*started) error {
	if len(asking) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	var columns []string
	var args []any
	found, into, asked := make([]bool, len(asking)), make([]any, len(asking)), make([]int32, len(asking))
	for i, job := range asking {
		due := job.Due
		if asked[i] = job.asks.Load(); asked[i] == asksForLease {
			due = job.Lease.whenFree
		}
		query, queryArgs := due()
		columns, args, into[i] = append(columns, "EXISTS ("+query+")"), append(args, queryArgs...), &found[i]
	}
	if err := store.QueryRow(ctx, r.store.Read, "SELECT "+strings.Join(columns, ", "), args, into...); err != nil {
		return err
	}
	for i, job := range asking {
		switch {
		case found[i]:
			job.isDue.Raise()
		case asked[i] == asksForLease:
			r.note(job.Job, func(s *Status) { s.IsElsewhere = true })
		default:
			r.succeeded(job.Job)
			if job.isCounted() {
				r.setBacklog(job.Job, 0)
			}
			if job.Behind != nil {
				r.behind.WithLabelValues(job.Name).Set(0)
			}
		}
	}
	return nil
}

// Lapsed returns the Due of a job: the rows of a table that match a condition, and in which a
// column with an index is at least an age ago.
func Lapsed(s *store.Store, table, column string, age time.Duration, condition string) func() (string, []any) {
	return func() (string, []any) {
		now, args := s.Clock.Expression()
		return fmt.Sprintf("SELECT 1 FROM %s WHERE %s <= %s - %d AND %s", table, column, now, age.Milliseconds(), condition), args
	}
}

// Before is Lapsed without the rows of exactly that age.
func Before(s *store.Store, table, column string, age time.Duration) func() (string, []any) {
	return Lapsed(s, table, column, age+time.Millisecond, "1 = 1")
}

// Rows returns the Due of a job: a query without arguments.
func Rows(query string) func() (string, []any) {
	return func() (string, []any) { return query, nil }
}

// Backlog returns the number of rows that are due for a job, up to MaxBacklog.
func (j Job) Backlog(ctx context.Context, s *store.Store) (n int64, err error) {
	query, args := j.Due()
	err = store.QueryRow(ctx, s.Read, "SELECT COUNT(*) FROM ("+query+store.Limit(MaxBacklog)+") due", args, &n)
	return n, err
}

func (r *Runner) countBacklog(ctx context.Context, job *started) {
	failed := func(err error) bool {
		if err != nil && ctx.Err() == nil {
			r.log.WarnContext(ctx, "counting the backlog of a background job failed", "job", job.Name, "error", err)
		}
		return err != nil
	}
	if job.isCounted() {
		if n, err := job.Backlog(ctx, r.store); !failed(err) {
			r.setBacklog(job.Job, n)
		}
	}
	if job.Behind != nil {
		if behind, err := job.Behind(ctx); !failed(err) {
			r.behind.WithLabelValues(job.Name).Set(behind.Seconds())
		}
	}
}

func (r *Runner) setBacklog(job Job, n int64) {
	r.backlog.WithLabelValues(job.Name).Set(float64(n))
	r.note(job, func(s *Status) { s.Backlog = n })
}
