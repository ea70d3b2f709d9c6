package outbox

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/tracing"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

const (
	// pollInterval is how often to look for events that another process wrote. Events
	// of the same process are signalled.
	pollInterval = 20 * time.Millisecond
	// busyTime is how long to look so often after the latest event, without listeners.
	busyTime = 10 * time.Second
	// maxRest bounds the rest after a turn, which delays the delivery of events. Without
	// the rest, the Sequencer would run between every two changes of a channel, with a
	// commit of its own for each of them.
	maxRest = 5 * time.Millisecond
	// maxPause bounds the pause after a turn that failed.
	maxPause      = 250 * time.Millisecond
	sequenceBatch = 1000
	// updatedAtOnce is how many events one statement handles: it bounds the number of
	// parameters.
	updatedAtOnce = 200
	// minRun is the least number of consecutive events of a channel that get their
	// positions in a statement of their own.
	minRun = 20
	// theRow is the only id in event_sequencers.
	theRow = 1
)

// Sequencer assigns events their positions: the one order in which all listeners
// receive them. Auto-increment ids are not enough: they become visible out of order,
// so that a reader that tails them misses some. Every process runs a Sequencer, and
// the one that holds the lease works.
type Sequencer struct {
	Store *store.Store
	Log   *slog.Logger
	// Sequenced, if not nil, is called after positions were assigned.
	Sequenced func()
	// HasListeners, if not nil, reports whether events are awaited on this server.
	HasListeners func() bool
	// Elsewhere, if not nil, is called when this server wrote events and another one assigns
	// positions.
	Elsewhere func()

	lease    *jobs.Lease
	isHolder atomic.Bool
	assigned store.Latest // positions were assigned

	holder    prometheus.Gauge
	sequenced prometheus.Counter
	delay     prometheus.Histogram
}

// NewSequencer returns a Sequencer, and registers its metrics.
func NewSequencer(s *store.Store, log *slog.Logger, r prometheus.Registerer) *Sequencer {
	q := &Sequencer{
		Store: s, Log: log, lease: jobs.NewLease(s, log, "event_sequencers", theRow),
		holder: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "moderato_event_sequencer", Help: "1 while this server sequences events.",
		}),
		sequenced: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "moderato_events_sequenced_total", Help: "Events sequenced by this server.",
		}),
		delay: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "moderato_event_sequencing_delay_seconds", Help: "Time from an event's occurrence to its sequencing.",
			Buckets: []float64{.005, .01, .02, .05, .1, .25, .5, 1, 5, 30},
		}),
	}
	r.MustRegister(q.holder, q.sequenced, q.delay)
	return q
}

// Job returns the job that assigns positions until the server stops, and then releases the
// lease.
func (q *Sequencer) Job() jobs.Job {
	return jobs.Job{
		Name: "sequence events", Interval: pollInterval, Wake: q.Store.Written, MaxPause: maxPause, MaxRest: maxRest,
		Run: jobs.All(q.Turn), Lease: q.lease,
		Due: jobs.Rows("SELECT 1 FROM events WHERE position IS NULL"), IsActive: q.isActive,
		Stop: func(ctx context.Context) {
			q.lease.Release(ctx)
			q.showHolder()
		},
	}
}

// isActive reports whether events of other servers must get their positions soon: on a server
// with listeners, and while there are events.
func (q *Sequencer) isActive() bool {
	return (q.HasListeners != nil && q.HasListeners()) || q.assigned.IsWithin(busyTime)
}

// Turn takes or renews the lease if necessary, and assigns positions to the events that
// are waiting. It does nothing if another process holds the lease.
func (q *Sequencer) Turn(ctx context.Context) error {
	defer q.showHolder()
	if held, err := q.lease.Take(ctx); err != nil || !held {
		if err == nil && q.Elsewhere != nil {
			q.Elsewhere()
		}
		return err
	}
	for {
		waiting, err := q.isWaiting(ctx)
		if err != nil {
			return err
		}
		if !waiting {
			return q.lease.RenewInTime(ctx)
		}
		more, err := q.sequence(ctx)
		if err != nil || !more {
			return err
		}
	}
}

// Wake has the sequencer look for events of other servers, if this server is the holder.
func (q *Sequencer) Wake() {
	if q.isHolder.Load() {
		q.Store.Written.Raise()
	}
}

// IsElsewhere reports whether this server does not assign positions. Work that one server is to do is
// done by the one that does.
func (q *Sequencer) IsElsewhere() bool { return !q.isHolder.Load() }

// Holder says who assigns positions now, as far as the database knows: "this server",
// "another server", or nobody if it is empty.
func (q *Sequencer) Holder(ctx context.Context) (string, error) {
	isHeld, err := q.lease.IsTaken(ctx)
	switch {
	case err != nil || !isHeld:
		return "", err
	case q.isHolder.Load():
		return "this server", nil
	}
	return "another server", nil
}

func (q *Sequencer) showHolder() {
	q.isHolder.Store(q.lease.IsHeld())
	q.holder.Set(0)
	if q.isHolder.Load() {
		q.holder.Set(1)
	}
}

// isWaiting reports whether an event without a position exists.
func (q *Sequencer) isWaiting(ctx context.Context) (bool, error) {
	waiting := false
	err := store.QueryEach(ctx, q.Store.Read, "SELECT sequence FROM events WHERE position IS NULL LIMIT 1", nil,
		func(scan func(...any) error) error {
			waiting = true
			return scan(new(int64))
		})
	return waiting, err
}

// sequence assigns positions to the oldest events without one, and renews the lease. It
// reports whether there may be more such events.
func (q *Sequencer) sequence(ctx context.Context) (more bool, err error) {
	var rows []waiting
	var now instant.Instant
	began := time.Now()
	held, err := q.lease.Write(ctx, func(ctx context.Context, tx *ent.Tx, at instant.Instant) error {
		var err error
		now = at
		if rows, more, err = (finder{tx, q.Store.Tracer() != nil}).findWaiting(ctx); err != nil || len(rows) == 0 {
			return err
		}
		return place(ctx, tx, q.Store.Dialect, rows)
	})
	if err != nil || !held {
		return false, err
	}
	q.tell(ctx, rows, now, began)
	return more, nil
}

// tell updates the metrics, records the spans of a turn that began at an instant of the
// process's clock, and calls Sequenced.
func (q *Sequencer) tell(ctx context.Context, rows []waiting, now instant.Instant, began time.Time) {
	if len(rows) == 0 {
		return
	}
	q.sequenced.Add(float64(len(rows)))
	q.assigned.Note()
	ended := time.Now()
	for _, r := range rows {
		tracing.Observe(q.trace(ctx, r, began, ended), q.delay, now.Sub(r.occurredAt).Seconds())
	}
	if q.Sequenced != nil {
		q.Sequenced()
	}
}
