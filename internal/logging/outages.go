package logging

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// quietTime is how long no operation may fail before an outage counts as over. A database
// without room still answers, and fails some operations only.
const quietTime = 10 * time.Second

// Outages logs the beginning and the end of an outage of the database, instead of each call
// and job that fails because of it.
type Outages struct {
	isFailure func(error) bool

	mu          sync.Mutex
	log         slog.Handler
	since, last time.Time // of the outage, and of its last failure; since is zero if there is none
	failures    int
}

// NewOutages returns an Outages that logs to a handler. isFailure reports whether an error is
// one of the database.
func NewOutages(log slog.Handler, isFailure func(error) bool) *Outages {
	return &Outages{isFailure: isFailure, log: log}
}

// Failed records a failure of the database, and logs it if an outage begins.
func (o *Outages) Failed(ctx context.Context, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = time.Now()
	o.failures++
	if o.since.IsZero() {
		o.since = o.last
		slog.New(o.log).ErrorContext(ctx, "the database fails; calls and jobs that fail because of it are not logged until it works again", "error", err)
	}
}

// Works records that the database answers. It logs the end of an outage, once nothing has
// failed for quietTime.
func (o *Outages) Works(ctx context.Context) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() || time.Since(o.last) < quietTime {
		return
	}
	slog.New(o.log).InfoContext(ctx, "the database works again", Milliseconds("failed_for_ms", o.last.Sub(o.since)), "failures", o.failures)
	o.since, o.failures = time.Time{}, 0
}

// isPartOf reports whether an error is due to an outage. During one, that includes operations
// that ran out of time.
func (o *Outages) isPartOf(err error) bool {
	if o.isFailure(err) {
		return true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.since.IsZero() && errors.Is(err, context.DeadlineExceeded)
}

// Handler returns a handler that passes records on, except those about failures of the
// database: these get the level debug.
func (o *Outages) Handler(next slog.Handler) slog.Handler { return outagesHandler{next, o} }

type outagesHandler struct {
	slog.Handler
	outages *Outages
}

// Handle passes a record on.
func (h outagesHandler) Handle(ctx context.Context, r slog.Record) error {
	err := errorOf(r)
	if err == nil || r.Level <= slog.LevelDebug || !h.outages.isPartOf(err) {
		return h.Handler.Handle(ctx, r)
	}
	h.outages.Failed(ctx, err)
	if !h.Enabled(ctx, slog.LevelDebug) {
		return nil
	}
	r.Level = slog.LevelDebug
	return h.Handler.Handle(ctx, r)
}

// errorOf returns the error in the attributes of a record; nil if there is none.
func errorOf(r slog.Record) (found error) {
	r.Attrs(func(a slog.Attr) bool {
		found, _ = a.Value.Any().(error)
		return found == nil
	})
	return found
}

// WithAttrs returns a handler with further attributes.
func (h outagesHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return outagesHandler{h.Handler.WithAttrs(attrs), h.outages}
}

// WithGroup returns a handler with a group.
func (h outagesHandler) WithGroup(name string) slog.Handler {
	return outagesHandler{h.Handler.WithGroup(name), h.outages}
}
