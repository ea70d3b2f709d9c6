// Package changequeue decides which change of a channel this server makes next. The database
// grants the lock of the channel's row in the order of the requests, or in no defined
// order, so a ban during a raid would queue behind the raid's follows. Changes therefore
// queue here first, where moderation has priority, and request the lock one at a time.
// Each server has its own queues: of the changes of other servers, a ban waits at most
// for those that are in progress.
package changequeue

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/server/fair"
	"github.com/moderato-live/moderato/server/uid"
)

// Turns holds the queues of a server, one for each channel that is being changed.
type Turns struct {
	mu       sync.Mutex
	channels map[uid.ID]*queue
	hold     time.Duration // average hold time of the queue that was deleted last

	waiting  prometheus.Gauge
	rejected prometheus.Counter
}

// queue is the gate of a channel; it has one slot.
type queue struct {
	gate  *fair.Gate
	users int // callers that hold or wait for the slot
}

// New returns Turns with no queues.
func New() *Turns {
	return &Turns{
		channels: map[uid.ID]*queue{},
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "moderato_changes_waiting",
			Help: "Channel changes queued behind another change to the same channel.",
		}),
		rejected: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "moderato_changes_rejected_total",
			Help: "Channel changes rejected because they would have waited too long.",
		}),
	}
}

// Register registers the metrics.
func (t *Turns) Register(r prometheus.Registerer) { r.MustRegister(t.waiting, t.rejected) }

// Check returns the error with which Take would immediately reject a request; nil if it
// would not reject the request.
func (t *Turns) Check(ctx context.Context, channelID uid.ID) error {
	t.mu.Lock()
	q := t.channels[channelID]
	t.mu.Unlock()
	if q == nil {
		return nil
	}
	return t.count(q.gate.Check(ctx))
}

// Take waits until the caller may change the channel. The caller must call done. It
// should do so before it commits, so that the next change can already request the lock.
// Further calls of done have no effect.
func (t *Turns) Take(ctx context.Context, channelID uid.ID) (done func(), err error) {
	q := t.enter(channelID)
	t.waiting.Inc()
	slot, err := q.gate.Acquire(ctx)
	t.waiting.Dec()
	if err != nil {
		t.leave(channelID, q)
		return nil, t.count(err)
	}
	return sync.OnceFunc(func() {
		slot.Release()
		t.leave(channelID, q)
	}), nil
}

// count counts an error if it is a rejection.
func (t *Turns) count(err error) error {
	var overloaded *fair.OverloadedError
	if errors.As(err, &overloaded) {
		t.rejected.Inc()
	}
	return err
}

func (t *Turns) enter(channelID uid.ID) *queue {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.channels[channelID]
	if q == nil {
		q = &queue{gate: fair.NewGate(1)}
		q.gate.SetHold(t.hold)
		t.channels[channelID] = q
	}
	q.users++
	return q
}

func (t *Turns) leave(channelID uid.ID, q *queue) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if q.users--; q.users == 0 {
		t.hold = q.gate.Hold()
		delete(t.channels, channelID)
	}
}
