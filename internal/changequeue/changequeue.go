// Package changequeue decides which change of a channel this server makes next. The database
// grants the lock of the channel's row in the order of the requests, or in no defined
// order, so a ban during a raid would queue behind the raid's follows. Changes therefore
// queue here first, where moderation has priority, and request the lock one at a time. The
// holder of a turn can take over the work of others who wait, and do it together with its own.
//
// A batch of 1,000 bans holds the channel a hundred times as long as a ban. So the long
// changes of a channel queue for their turns among themselves first, and use at most half
// of the channel's time while moderators make short changes: after a long change for which
// a moderator waited, the next long one waits for as long as the first one took.
//
// Each server has its own queues: of the changes of other servers, a ban waits at most
// for those whose transactions are in progress.
package changequeue

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/internal/fair"
	"github.com/moderato-live/moderato/internal/uid"
)

// maxWaiting is how many changes of an owner may wait for a channel at the same time. Each
// of them keeps its connection and its stack in memory.
const maxWaiting = 1_000

// Queues holds the queues of a server, one for each channel that is being changed.
type Queues struct {
	mu       sync.Mutex
	channels map[uid.ID]*queue
	hold     time.Duration // average hold time of the queue that was deleted last

	waiting  prometheus.Gauge
	rejected prometheus.Counter
	joined   prometheus.Counter
}

// queue holds the gates of a channel, each with one slot.
type queue struct {
	gate *fair.Gate // for the channel
	long *fair.Gate // for the long change among those that hold or wait for the gate

	// Queues.mu guards the fields below.
	users  int // callers that hold or wait for a slot
	urgent int // those of them with short changes of moderators
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
		joined: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "moderato_changes_joined_total",
			Help: "Channel changes and chat posts made in the transaction of an earlier one.",
		}),
	}
}

// Register registers the metrics.
func (qs *Queues) Register(r prometheus.Registerer) {
	r.MustRegister(qs.waiting, qs.rejected, qs.joined)
}

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

// Turn is the right to change a channel. Its holder must End it, and should Release it before
// it commits, so that the next change can already request the lock.
type Turn struct {
	queues    *Queues
	channelID uid.ID
	queue     *queue
	slot      fair.Slot

	isUrgent bool // a short change of a moderator
	// Of a long change:
	isLong bool
	long   fair.Slot
	since  time.Time
}

// Acquire waits until the caller may change the channel.
func (qs *Queues) Acquire(ctx context.Context, channelID uid.ID) (*Turn, error) {
	return qs.acquire(ctx, channelID, false, nil)
}

// AcquireOrJoin is Acquire for work that the holder of a turn may take over: see Turn.Take.
// Then it returns nil.
func (qs *Queues) AcquireOrJoin(ctx context.Context, channelID uid.ID, work any) (*Turn, error) {
	return qs.acquire(ctx, channelID, false, work)
}

// AcquireLong is Acquire for a long change.
func (qs *Queues) AcquireLong(ctx context.Context, channelID uid.ID) (*Turn, error) {
	return qs.acquire(ctx, channelID, true, nil)
}

func (qs *Queues) acquire(ctx context.Context, channelID uid.ID, isLong bool, work any) (*Turn, error) {
	t := &Turn{queues: qs, channelID: channelID, isLong: isLong, isUrgent: !isLong && fair.FromContext(ctx).Priority == fair.High}
	qs.enter(t)
	qs.waiting.Inc()
	err := t.wait(ctx, work)
	qs.waiting.Dec()
	if err != nil {
		t.endLong()
		return nil, qs.count(err)
	}
	if !t.slot.IsHeld() {
		t.leave()
		return nil, nil //nolint:nilnil // the work was taken over
	}
	t.since = time.Now()
	return t, nil
}

func (t *Turn) wait(ctx context.Context, work any) (err error) {
	if t.isLong {
		if t.long, err = t.queue.long.Acquire(ctx); err != nil {
			return err
		}
	}
	t.slot, err = t.queue.gate.AcquireOrJoin(ctx, work)
	return err
}

// Take removes up to n waiting changes from the queue and returns their work: see
// fair.Slot.Take.
func (t *Turn) Take(n int, accepts func(work any) bool) []any {
	taken := t.slot.Take(n, accepts)
	t.queues.joined.Add(float64(len(taken)))
	return taken
}

// Release lets the next change have its turn. Further calls have no effect.
func (t *Turn) Release() {
	if t.queue == nil {
		return
	}
	t.slot.Release()
	if !t.isLong {
		t.leave()
	}
}

// End releases the turn after the commit. The next long change has its turn then, or, if
// moderators wait with short changes, after as long again as this one took.
func (t *Turn) End() {
	t.Release()
	switch {
	case t.queue == nil:
	case t.queues.hasUrgent(t.queue):
		time.AfterFunc(time.Since(t.since), t.endLong)
	default:
		t.endLong()
	}
}

func (t *Turn) endLong() {
	t.long.Release()
	t.leave()
}

// leave leaves the queue, which is deleted when it is empty.
func (t *Turn) leave() {
	t.queues.leave(t)
	t.queue = nil
}

// count counts an error if it is a rejection.
func (qs *Queues) count(err error) error {
	var overloaded *fair.OverloadedError
	if errors.As(err, &overloaded) {
		qs.rejected.Inc()
	}
	return err
}

func (qs *Queues) enter(t *Turn) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q := qs.channels[t.channelID]
	if q == nil {
		q = &queue{gate: fair.NewGate(1), long: fair.NewGate(1)}
		q.gate.MaxWaiting, q.long.MaxWaiting = maxWaiting, maxWaiting
		q.gate.SetHold(qs.hold)
		qs.channels[t.channelID] = q
	}
	t.queue = q
	q.users++
	if t.isUrgent {
		q.urgent++
	}
}

func (qs *Queues) leave(t *Turn) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q := t.queue
	if t.isUrgent {
		q.urgent--
	}
	if q.users--; q.users == 0 {
		qs.hold = q.gate.Hold()
		delete(qs.channels, t.channelID)
	}
}

// hasUrgent reports whether short changes of moderators wait for a queue or hold its turn.
func (qs *Queues) hasUrgent(q *queue) bool {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	return q.urgent > 0
}
