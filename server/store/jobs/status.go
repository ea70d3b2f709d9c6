package jobs

import (
	"cmp"
	"slices"
	"time"
)

// staleAfter is how much longer than two intervals a job may be without success: as in the
// alert ModeratoJobStale.
const staleAfter = 10 * time.Minute

// Status is how a job fares on this server, for people.
type Status struct {
	Name        string
	Interval    time.Duration
	LastSuccess time.Time
	// Backlog is the work that was due when it was last counted; -1 if it is not counted.
	Backlog int64
	// Failures is the number of failed runs, and LastError the error of the latest run.
	Failures  int64
	LastError string
	// IsElsewhere is true while another server does the work of the job.
	IsElsewhere bool
}

// IsStale reports whether the job has been without success for too long.
func (s Status) IsStale(now time.Time) bool {
	return !s.IsElsewhere && now.Sub(s.LastSuccess) > staleAfter+2*s.Interval
}

// Statuses returns how the jobs fare that run, by name.
func (r *Runner) Statuses() []Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]Status, 0, len(r.statuses))
	for _, s := range r.statuses {
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b Status) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// note changes the status of a job.
func (r *Runner) note(job Job, change func(*Status)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.statuses[job.Name]
	if s == nil {
		s = &Status{Name: job.Name, Interval: job.Interval, Backlog: -1}
		r.statuses[job.Name] = s
	}
	change(s)
}

// succeeded notes that a run succeeded, or that the job begins.
func (r *Runner) succeeded(job Job) {
	r.lastSuccess.WithLabelValues(job.Name).SetToCurrentTime()
	r.note(job, func(s *Status) { s.LastSuccess, s.LastError, s.IsElsewhere = time.Now(), "", false })
}

func (r *Runner) failed(job Job, err error) {
	r.failures.WithLabelValues(job.Name).Inc()
	r.note(job, func(s *Status) { s.Failures, s.LastError, s.IsElsewhere = s.Failures+1, err.Error(), false })
}
