package webhooks

import (
	"context"
	"sync"
	"time"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// maxLiveEvents is how many live events wait in all, and maxLiveWaiting how many wait
	// for one webhook, each for as long as an attempt may take. Further ones are lost, or
	// those of an owner who has more.
	maxLiveEvents  = 10_000
	maxLiveWaiting = 100
	// maxLiveQueues is for how many webhooks live events may wait.
	maxLiveQueues = 10_000
	// matchedAtOnce is how many live events are matched with webhooks at a time.
	matchedAtOnce = idsPerStatement
)

// liveSender sends live events, which are not kept, to webhooks. The server on which an
// event was posted sends it, at most once. Nothing about it is stored, and the result of an
// attempt changes nothing but how soon this server makes the next one.
type liveSender struct {
	*Engine

	wake  store.Signal
	index liveIndex

	mu      sync.Mutex
	arrived []*liveEvent
	queues  map[uid.ID]*liveQueue
	waiting pool // the events in all queues
}

// liveEvent is a live event that this server posted.
type liveEvent struct {
	live.Message

	at   time.Time
	body func() []byte
}

func newLiveSender(e *Engine) *liveSender {
	return &liveSender{
		Engine: e, wake: store.NewSignal(), queues: map[uid.ID]*liveQueue{},
		waiting: pool{size: maxLiveEvents, byOwner: map[owner]int{}},
	}
}

// Posted takes a live event that this server posted. It does not wait.
func (e *Engine) Posted(m live.Message) { e.live.post(m) }

func (l *liveSender) post(m live.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.arrived) >= maxLiveEvents {
		l.count("lost", 1)
		return
	}
	l.arrived = append(l.arrived, &liveEvent{
		Message: m, at: time.Now(), body: sync.OnceValue(func() []byte { return outbox.JSON(m.Event) }),
	})
	l.wake.Raise()
}

func (l *liveSender) count(outcome string, n int) {
	l.metrics.live.WithLabelValues(outcome).Add(float64(n))
}

// run passes live events on to the webhooks that want them until ctx ends.
func (l *liveSender) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		}
		l.mu.Lock()
		arrived := l.arrived
		l.arrived = nil
		l.mu.Unlock()
		for len(arrived) > 0 {
			some := arrived[:min(len(arrived), matchedAtOnce)]
			arrived = arrived[len(some):]
			if err := l.match(ctx, some); err != nil && ctx.Err() == nil {
				l.count("lost", len(some))
				l.Log.WarnContext(ctx, "finding the webhooks for chat failed; its messages are not sent", "messages", len(some), "error", err)
			}
		}
	}
}

// match adds live events to the queues of the webhooks that want them.
func (l *liveSender) match(ctx context.Context, events []*liveEvent) error {
	seen := map[uid.ID]bool{}
	var channels []uid.ID
	for _, m := range events {
		if !seen[m.ChannelID] {
			seen[m.ChannelID] = true
			channels = append(channels, m.ChannelID)
		}
	}
	bounded, cancel := context.WithTimeout(ctx, l.Timeout)
	defer cancel()
	if err := l.index.refresh(bounded, l.Engine, channels); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range events {
		l.index.each(m, func(c candidate) { l.add(ctx, c, m) })
	}
	return nil
}

// add adds a live event to the queue of a webhook, and starts a sender for it. The caller
// must hold mu.
func (l *liveSender) add(ctx context.Context, c candidate, m *liveEvent) {
	q := l.queue(c)
	switch {
	case q == nil:
		l.count("lost", 1)
	case q.isPaused() || len(q.waiting) >= maxLiveWaiting || !l.makeRoom(q.owner):
		l.lose(q, 1)
	default:
		q.waiting = append(q.waiting, m)
		l.waiting.add(q.owner, 1)
		if q.senders < maxInFlight && !q.busy[m.ChannelID] {
			q.senders++
			l.workers.Go(func() { l.send(ctx, q) })
		}
	}
}

// makeRoom reports whether one more event of an owner may wait. If too many wait already,
// the owner who has the most loses half of the longest queue, unless this owner has as many.
// The caller must hold mu.
func (l *liveSender) makeRoom(o owner) bool {
	if l.waiting.used < l.waiting.size {
		return true
	}
	most := o
	for other, n := range l.waiting.byOwner {
		if n > l.waiting.byOwner[most] {
			most = other
		}
	}
	if l.waiting.byOwner[most] <= l.waiting.byOwner[o]+1 {
		return false
	}
	longest := &liveQueue{}
	for _, q := range l.queues {
		if q.owner == most && len(q.waiting) > len(longest.waiting) {
			longest = q
		}
	}
	l.loseFirst(longest, (len(longest.waiting)+1)/2)
	return true
}

// queue returns the queue of a webhook, or nil if there are too many queues. The caller
// must hold mu.
func (l *liveSender) queue(c candidate) *liveQueue {
	if q := l.queues[c.id]; q != nil {
		return q
	}
	if len(l.queues) >= maxLiveQueues {
		for id, q := range l.queues { // what remains of them is a number of lost events
			if q.senders == 0 && !q.isPaused() {
				delete(l.queues, id)
			}
		}
	}
	if len(l.queues) >= maxLiveQueues {
		return nil
	}
	q := &liveQueue{candidate: c, busy: map[uid.ID]bool{}}
	l.queues[c.id] = q
	return q
}

// lose records that a webhook lost events. The caller must hold mu.
func (l *liveSender) lose(q *liveQueue, n int) {
	q.missed += int64(n)
	l.count("lost", n)
}

// loseFirst removes the first events of a queue. The caller must hold mu.
func (l *liveSender) loseFirst(q *liveQueue, n int) {
	q.waiting = append(q.waiting[:0:0], q.waiting[n:]...)
	l.waiting.add(q.owner, -n)
	l.lose(q, n)
}
