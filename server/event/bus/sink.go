package bus

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

const (
	sinkID       = "nats"
	pollInterval = 50 * time.Millisecond
	// busyTime is how long to look so often after the latest event.
	busyTime = 10 * time.Second
	pageSize = 500
	maxPause = 5 * time.Second
)

// Sink publishes every event to the bus, at least once and in order per channel. It
// begins with the first event that is still kept when the bus is turned on. Every server
// runs a Sink, and the one that holds the lease works.
type Sink struct {
	Store  *store.Store
	Log    *slog.Logger
	Config Config

	lease    *jobs.Lease
	position int64
	bus      *publisher // nil while this server does not publish
	wake     store.Signal
	sent     store.Latest // events were published

	published prometheus.Counter
	reached   prometheus.Gauge
}

// NewSink returns a Sink, and registers its metrics.
func NewSink(s *store.Store, log *slog.Logger, config Config, r prometheus.Registerer) *Sink {
	k := &Sink{
		Store: s, Log: log, Config: config, lease: jobs.NewLease(s, log, "event_sinks", sinkID), wake: store.NewSignal(),
		published: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "moderato_bus_published_total", Help: "Events that this server published to the bus.",
		}),
		reached: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "moderato_bus_position", Help: "Position up to which this server has published events; 0 while another server publishes.",
		}),
	}
	r.MustRegister(k.published, k.reached)
	return k
}

// Wake makes the Sink look for events now.
func (k *Sink) Wake() { k.wake.Raise() }

// Job returns the job that publishes events until the server stops, and then releases the
// lease.
func (k *Sink) Job() jobs.Job {
	return jobs.Job{
		Name: "publish events", Interval: pollInterval, Wake: k.wake, MaxPause: maxPause,
		Run: jobs.All(k.Turn), Lease: k.lease,
		Due: func() (string, []any) {
			return "SELECT 1 FROM events WHERE position > (SELECT position FROM event_sinks WHERE id = ?)", []any{sinkID}
		},
		IsActive: func() bool { return k.sent.IsWithin(busyTime) },
		Stop: func(ctx context.Context) {
			k.lease.Release(ctx)
			k.close()
		},
	}
}

// Turn publishes all events that exist at present. It does nothing if another server
// holds the lease.
func (k *Sink) Turn(ctx context.Context) error {
	if err := k.begin(ctx); err != nil || k.bus == nil {
		return err
	}
	for {
		page, err := outbox.Read(ctx, k.Store, k.position, pageSize)
		if err != nil {
			return err
		}
		if err := k.logMissing(ctx, page); err != nil {
			return err
		}
		done, failure := k.bus.publish(ctx, page, k.position, k.lease.RenewAt())
		isAll := len(page) == 0 || done == page[len(page)-1].Position
		if err := k.advance(ctx, done); err != nil || k.bus == nil {
			return err
		}
		k.count(page)
		if failure != nil || (isAll && len(page) < pageSize) {
			return failure
		}
	}
}

// logMissing logs an error if events were removed before they could be published,
// because the bus was unavailable for longer than events are kept.
func (k *Sink) logMissing(ctx context.Context, page []*outbox.Event) error {
	if k.position == 0 || len(page) == 0 || page[len(page)-1].Position == k.position+int64(len(page)) {
		return nil
	}
	at, err := outbox.ReadPositions(ctx, k.Store.Read)
	if err == nil && k.position < at.Trimmed {
		k.Log.ErrorContext(ctx, "events removed before they were published to NATS", "after", k.position, "up_to", at.Trimmed)
	}
	return err
}

// count counts the events of a page up to the stored position.
func (k *Sink) count(page []*outbox.Event) {
	for _, e := range page {
		if e.Position <= k.position {
			k.published.Inc()
		}
	}
}

// begin takes the lease, and connects to the bus if this server holds it.
func (k *Sink) begin(ctx context.Context) error {
	if k.bus != nil && k.lease.IsHeld() {
		return nil
	}
	k.close()
	held, err := k.lease.Take(ctx)
	if err != nil || !held {
		return err
	}
	// Read the position under the lease, when no other server can change it.
	row, err := k.Store.Read.EventSink.Get(ctx, sinkID)
	if err != nil {
		return err
	}
	bus, err := connect(ctx, k.Config, k.Log, k.Store.Tracer())
	if err != nil {
		return err
	}
	if err := bus.prepare(ctx); err != nil {
		bus.close()
		return err
	}
	k.bus, k.position = bus, row.Position
	k.reached.Set(float64(k.position))
	k.Log.InfoContext(ctx, "publishing events to NATS", "after", k.position)
	return nil
}

// advance renews the lease, and stores the position up to which all events are
// published. If another server holds the lease now, it closes the connection instead.
func (k *Sink) advance(ctx context.Context, position int64) error {
	if position == k.position {
		return k.renew(ctx)
	}
	held, err := k.lease.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ instant.Instant) error {
		return tx.EventSink.UpdateOneID(sinkID).SetPosition(position).Exec(ctx)
	})
	if err != nil {
		return err
	}
	if !held {
		k.close()
		return nil
	}
	k.position = position
	k.sent.Note()
	k.reached.Set(float64(position))
	return nil
}

// renew renews the lease, without a position to store.
func (k *Sink) renew(ctx context.Context) error {
	err := k.lease.RenewInTime(ctx)
	if err == nil && !k.lease.IsHeld() {
		k.close()
	}
	return err
}

// close drops the connection, with all messages in flight. The server that holds the
// lease resumes from the stored position.
func (k *Sink) close() {
	k.reached.Set(0)
	if k.bus != nil {
		k.bus.close()
		k.bus = nil
	}
}
