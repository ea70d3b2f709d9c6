package bus

import (
	"context"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/events"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/lease"
	"github.com/moderato-live/moderato/server/store"
)

const (
	sinkID       = "nats"
	pollInterval = 50 * time.Millisecond
	pageSize     = 500
	maxPause     = 5 * time.Second
)

// Sink publishes every event to the bus, at least once, in order per channel,
// from the first that is still kept when it is turned on. Every server runs one,
// and the one that holds the lease works.
type Sink struct {
	Store  *store.Store
	Log    *slog.Logger
	Config Config

	lease    *lease.Lease
	position int64
	bus      *publisher // nil: this server does not publish

	published prometheus.Counter
	failures  prometheus.Counter
	reached   prometheus.Gauge
}

// NewSink makes a Sink, with its metrics.
func NewSink(s *store.Store, log *slog.Logger, config Config, r prometheus.Registerer) *Sink {
	k := &Sink{
		Store: s, Log: log, Config: config, lease: lease.New(s, log, "event_sinks", sinkID),
		published: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "moderato_bus_published_total", Help: "Events that this server published to the bus.",
		}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "moderato_bus_failures_total", Help: "Attempts to publish that failed and are made again.",
		}),
		reached: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "moderato_bus_position", Help: "The position up to which this server published; 0 while another does.",
		}),
	}
	r.MustRegister(k.published, k.failures, k.reached)
	return k
}

// Run publishes until ctx ends, and then gives the lease up.
func (k *Sink) Run(ctx context.Context) {
	defer func() {
		k.lease.Release(context.WithoutCancel(ctx))
		k.close()
	}()
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = 100*time.Millisecond, maxPause
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		wait := pollInterval
		if err := k.Turn(ctx); err == nil {
			pause.Reset()
		} else if ctx.Err() == nil {
			k.failures.Inc()
			k.Log.WarnContext(ctx, "publishing to the bus failed; it will be tried again", "error", err)
			wait = pause.NextBackOff()
		}
		timer.Reset(wait)
	}
}

// Turn publishes what there is at present.
func (k *Sink) Turn(ctx context.Context) error {
	if err := k.begin(ctx); err != nil || k.bus == nil {
		return err
	}
	for {
		page, err := events.Read(ctx, k.Store, k.position, pageSize)
		if err != nil {
			return err
		}
		if err := k.tellMissing(ctx, page); err != nil {
			return err
		}
		done, failure := k.bus.publish(ctx, page, k.position, k.lease.RenewAt())
		isAll := len(page) == 0 || done == page[len(page)-1].Position
		if done > k.position || !time.Now().Before(k.lease.RenewAt()) {
			if err := k.advance(ctx, done); err != nil || k.bus == nil {
				return err
			}
			k.count(page)
		}
		if failure != nil || (isAll && len(page) < pageSize) {
			return failure
		}
	}
}

// tellMissing logs when events were removed before they could be published: the
// bus was away for longer than they are kept.
func (k *Sink) tellMissing(ctx context.Context, page []*events.Event) error {
	if k.position == 0 || len(page) == 0 || page[len(page)-1].Position == k.position+int64(len(page)) {
		return nil
	}
	_, trimmed, err := events.Positions(ctx, k.Store.Read)
	if err == nil && k.position < trimmed {
		k.Log.ErrorContext(ctx, "events were removed before they were published to the bus", "after", k.position, "up_to", trimmed)
	}
	return err
}

// count counts the events of a page that are published for good.
func (k *Sink) count(page []*events.Event) {
	for _, e := range page {
		if e.Position <= k.position {
			k.published.Inc()
		}
	}
}

// begin takes the lease, and connects when it has it.
func (k *Sink) begin(ctx context.Context) error {
	if k.bus != nil && k.lease.IsHeld() {
		return nil
	}
	k.close()
	held, err := k.lease.Take(ctx)
	if err != nil || !held {
		return err
	}
	// The position is read when nobody else can move it.
	row, err := k.Store.Read.EventSink.Get(ctx, sinkID)
	if err != nil {
		return err
	}
	bus, err := connect(ctx, k.Config, k.Log)
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

// advance keeps the lease and the position up to which all is published.
func (k *Sink) advance(ctx context.Context, position int64) error {
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
	k.reached.Set(float64(position))
	return nil
}

// close drops the connection, with what is under way on it: whoever has the lease
// goes on from the position that is stored.
func (k *Sink) close() {
	k.reached.Set(0)
	if k.bus != nil {
		k.bus.close()
		k.bus = nil
	}
}
