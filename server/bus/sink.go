package bus

import (
	"context"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/eventsink"
	"github.com/moderato-live/moderato/server/events"
	"github.com/moderato-live/moderato/server/store"
)

const (
	sinkID       = "nats"
	pollInterval = 50 * time.Millisecond
	pageSize     = 500
	// leaseTime is how long a publisher that died keeps the others waiting.
	leaseTime       = 5 * time.Second
	renewAfter      = leaseTime / 3
	acquireInterval = 500 * time.Millisecond
)

// Sink publishes every event to the bus, at least once, in order per channel,
// from the first that is still kept when it is turned on. Every server runs one,
// and the one that holds the lease works.
type Sink struct {
	Store  *store.Store
	Log    *slog.Logger
	Config Config

	epoch    int64 // 0: not the holder
	position int64
	renewAt  time.Time
	askAt    time.Time
	bus      *publisher

	published prometheus.Counter
	failures  prometheus.Counter
	reached   prometheus.Gauge
}

// NewSink makes a Sink, with its metrics.
func NewSink(s *store.Store, log *slog.Logger, config Config, r prometheus.Registerer) *Sink {
	k := &Sink{
		Store: s, Log: log, Config: config,
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
	defer k.stop(context.WithoutCancel(ctx))
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = 100*time.Millisecond, leaseTime
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
	if k.epoch == 0 {
		if time.Now().Before(k.askAt) {
			return nil
		}
		k.askAt = time.Now().Add(acquireInterval)
		if err := k.acquire(ctx); err != nil || k.epoch == 0 {
			return err
		}
	}
	if err := k.open(ctx); err != nil {
		return err
	}
	for {
		page, err := events.Read(ctx, k.Store, k.position, pageSize)
		if err != nil {
			return err
		}
		done := k.position
		var failure error
		if len(page) > 0 {
			done, failure = k.bus.publish(ctx, page)
			done = max(done, k.position)
		}
		if done > k.position || time.Now().After(k.renewAt) {
			if err := k.advance(ctx, done); err != nil || k.epoch == 0 {
				return err
			}
			k.count(page)
		}
		if failure != nil || len(page) < pageSize {
			return failure
		}
	}
}

// count counts the events of a page that are published for good.
func (k *Sink) count(page []*events.Event) {
	for _, e := range page {
		if e.Position <= k.position {
			k.published.Inc()
		}
	}
}

// open connects when there is something to do with the connection.
func (k *Sink) open(ctx context.Context) error {
	if k.bus != nil {
		return nil
	}
	bus, err := connect(ctx, k.Config, k.Log)
	if err != nil {
		return err
	}
	if err := bus.prepare(ctx); err != nil {
		bus.close()
		return err
	}
	k.bus = bus
	return nil
}

// acquire takes the lease if it is free.
func (k *Sink) acquire(ctx context.Context) error {
	now, err := k.Store.Clock.Now(ctx, k.Store.Read)
	if err != nil {
		return err
	}
	lease, err := k.Store.Read.EventSink.Get(ctx, sinkID)
	if ent.IsNotFound(err) {
		err = k.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			return tx.EventSink.Create().SetID(sinkID).SetEpoch(0).SetExpiresAt(0).SetPosition(0).Exec(ctx)
		})
		if k.Store.IsDuplicate(err) { // another server was first
			return nil
		}
		lease = &ent.EventSink{}
	}
	if err != nil || now < lease.ExpiresAt {
		return err
	}
	var taken int
	err = k.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		var err error
		taken, err = tx.EventSink.Update().
			Where(eventsink.ID(sinkID), eventsink.Epoch(lease.Epoch), eventsink.ExpiresAt(lease.ExpiresAt)).
			SetEpoch(lease.Epoch + 1).SetExpiresAt(now.Add(leaseTime)).
			Save(ctx)
		return err
	})
	if err != nil || taken == 0 {
		return err
	}
	// The position is read when nobody else can move it.
	lease, err = k.Store.Read.EventSink.Get(ctx, sinkID)
	if err != nil {
		return err
	}
	k.epoch, k.position, k.renewAt = lease.Epoch, lease.Position, time.Now().Add(renewAfter)
	k.reached.Set(float64(k.position))
	k.Log.InfoContext(ctx, "publishing events to NATS", "after", k.position)
	return nil
}

// advance keeps the lease and the position up to which all is published.
func (k *Sink) advance(ctx context.Context, position int64) error {
	began := time.Now()
	var mine int
	err := k.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		now, err := k.Store.Clock.Now(ctx, tx)
		if err != nil {
			return err
		}
		mine, err = tx.EventSink.Update().Where(eventsink.ID(sinkID), eventsink.Epoch(k.epoch)).
			SetPosition(position).SetExpiresAt(now.Add(leaseTime)).
			Save(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if mine == 0 {
		k.Log.InfoContext(ctx, "another server publishes to NATS now")
		k.lose()
		return nil
	}
	k.position, k.renewAt = position, began.Add(renewAfter)
	k.reached.Set(float64(position))
	return nil
}

// lose also drops the connection, with what is under way on it: another server
// goes on from the position that is stored.
func (k *Sink) lose() {
	k.epoch = 0
	k.reached.Set(0)
	if k.bus != nil {
		k.bus.close()
		k.bus = nil
	}
}

// stop lets another server go on at once.
func (k *Sink) stop(ctx context.Context) {
	if k.epoch == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	err := k.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		return tx.EventSink.Update().Where(eventsink.ID(sinkID), eventsink.Epoch(k.epoch)).SetExpiresAt(0).Exec(ctx)
	})
	if err != nil {
		k.Log.WarnContext(ctx, "the lease of the bus was not given up; it expires by itself", "error", err)
	}
	k.lose()
}
