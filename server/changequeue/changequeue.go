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

// Queues holds the queues of a server, one for each channel that is being changed.
type Queues struct {
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

// New returns Queues that hold no queue.
func New() *Queues {
	return &Queues{
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
func (qs *Queues) Register(r prometheus.Registerer) { r.MustRegister(qs.waiting, qs.rejected) }

// Check returns the error with which Acquire would immediately reject a request; nil if it
// would not reject the request.
func (qs *Queues) Check(ctx context.Context, channelID uid.ID) error {
	qs.mu.Lock()
	q := qs.channels[channelID]
	qs.mu.Unlock()
	if q == nil {
		return nil
	}
	return qs.count(q.gate.Check(ctx))
}

// Acquire waits until the caller may change the channel. The caller must call done. It
// should do so before it commits, so that the next change can already request the lock.
// Further calls of done have no effect.
func (qs *Queues) Acquire(ctx context.Context, channelID uid.ID) (done func(), err error) {
	q := qs.enter(channelID)
	qs.waiting.Inc()
	slot, err := q.gate.Acquire(ctx)
	qs.waiting.Dec()
	if err != nil {
		qs.leave(channelID, q)
		return nil, qs.count(err)
	}
	return sync.OnceFunc(func() {
		slot.Release()
		qs.leave(channelID, q)
	}), nil
}

// count counts an error if it is a rejection.
func (qs *Queues) count(err error) error {
	var overloaded *fair.OverloadedError
	if errors.As(err, &overloaded) {
		qs.rejected.Inc()
	}
	return err
}

func (qs *Queues) enter(channelID uid.ID) *queue {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q := qs.channels[channelID]
	if q == nil {
		q = &queue{gate: fair.NewGate(1)}
		q.gate.SetHold(qs.hold)
		qs.channels[channelID] = q
	}
	q.users++
	return q
}

func (qs *Queues) leave(channelID uid.ID, q *queue) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if q.users--; q.users == 0 {
		qs.hold = q.gate.Hold()
		delete(qs.channels, channelID)
	}
}
