// Package fair shares a bounded number of slots among owners. Owners who wait take
// turns, so that one who asks for a lot waits behind its own requests, and who would
// wait too long is told so at once.
package fair

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"
)

// Priority is how urgent a request for a slot is.
type Priority int

// The priorities.
const (
	// Normal is for most requests.
	Normal Priority = iota
	// High is for requests that overtake normal ones.
	High
	priorities
)

const (
	// highInARow is how many high requests may overtake a normal one that waits,
	// so that it does not wait forever.
	highInARow = 16

	// initialHold is for how long a slot is expected to be held before any was.
	initialHold = time.Millisecond
	// holdWeight is the weight of a new sample in the average: 1 of this.
	holdWeight = 8
	// safeShare is the percentage of the longest wait up to which a request may wait:
	// the expectation is an average, and one that has waited in vain is worse than one
	// that was rejected at once.
	safeShare = 75
	// maxSample bounds a sample by the average, and leastBound bounds that bound: one
	// holder that hung must not have the next ones turned away.
	maxSample  = 4
	leastBound = 10 * time.Millisecond
)

// OverloadedError is the error of a request that would have had to wait too long.
type OverloadedError struct {
	// RetryAfter is when to try again.
	RetryAfter time.Duration
}

// Error names the condition.
func (e *OverloadedError) Error() string {
	return fmt.Sprintf("overloaded: try again after %s", e.RetryAfter)
}

// Gate hands out slots. Its methods may be called concurrently.
type Gate struct {
	slots int

	mu      sync.Mutex
	used    int
	waiting [priorities]line
	high    int           // how many high requests overtook the normal ones that wait
	hold    time.Duration // the average time for which a slot is held
}

// NewGate returns a gate with a number of slots.
func NewGate(slots int) *Gate {
	return &Gate{slots: slots, hold: initialHold}
}

// Slot is a slot that is held. The zero Slot is none.
type Slot struct {
	gate  interface{ put(held time.Duration) }
	start time.Time
}

// Release gives the slot back. To release a slot again does nothing.
func (s *Slot) Release() {
	if s.gate != nil {
		s.gate.put(time.Since(s.start))
		s.gate = nil
	}
}

// Acquire takes a slot on behalf of the request of ctx, and waits for one if need be.
// A request with a longest wait is rejected when it can be expected to wait longer,
// without waiting, and when it has waited for so long. The errors are an
// *OverloadedError or that of ctx.
func (g *Gate) Acquire(ctx context.Context) (Slot, error) {
	g.mu.Lock()
	if g.used < g.slots {
		g.used++
		g.mu.Unlock()
		return g.slot(), nil
	}
	r := FromContext(ctx)
	if err := g.check(r); err != nil {
		g.mu.Unlock()
		return Slot{}, err
	}
	w := g.waiting[r.Priority].add(r.Owner)
	g.mu.Unlock()
	return g.wait(ctx, w, r)
}

func (g *Gate) slot() Slot { return Slot{gate: g, start: time.Now()} }

func (g *Gate) wait(ctx context.Context, w *waiter, r Request) (Slot, error) {
	var late <-chan time.Time
	if r.MaxWait > 0 {
		timer := time.NewTimer(r.MaxWait)
		defer timer.Stop()
		late = timer.C
	}
	var err error
	select {
	case <-w.granted:
		return g.slot(), nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-late:
		err = &OverloadedError{RetryAfter: r.MaxWait}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.waiting[r.Priority].remove(w) { // it was granted meanwhile
		g.next()
	}
	return Slot{}, err
}

// put takes a slot back.
func (g *Gate) put(held time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	sample := min(held, max(maxSample*g.hold, leastBound))
	g.hold += (sample - g.hold) / holdWeight
	g.next()
}

// next hands a slot to the request that is next.
func (g *Gate) next() {
	p := g.choose()
	if w := g.waiting[p].take(); w != nil {
		close(w.granted)
		return
	}
	g.used--
}

// choose returns the priority whose requests are next.
func (g *Gate) choose() Priority {
	switch {
	case g.waiting[High].length == 0:
		g.high = 0
		return Normal
	case g.waiting[Normal].length == 0:
		g.high = 0
		return High
	case g.high < highInARow:
		g.high++
		return High
	}
	g.high = 0
	return Normal
}

// Check returns the *OverloadedError with which Acquire would reject the request of
// ctx without waiting; nil if it would not.
func (g *Gate) Check(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.used < g.slots {
		return nil
	}
	return g.check(FromContext(ctx))
}

// check rejects a request that would wait too long.
func (g *Gate) check(r Request) error {
	if r.MaxWait == 0 {
		return nil
	}
	before := g.waiting[r.Priority].before(r.Owner)
	if r.Priority == Normal {
		before += g.waiting[High].length
	}
	expected := time.Duration(before+1) * g.hold / time.Duration(g.slots)
	if expected <= r.MaxWait*safeShare/100 {
		return nil
	}
	return &OverloadedError{RetryAfter: expected}
}

// Waiting returns how many requests wait.
func (g *Gate) Waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waiting[Normal].length + g.waiting[High].length
}

// Hold returns the average time for which a slot is held.
func (g *Gate) Hold() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.hold
}

// SetHold has the gate expect that slots are held for so long.
func (g *Gate) SetHold(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hold = max(d, initialHold/holdWeight)
}

// IsIdle reports whether nobody holds a slot or waits for one.
func (g *Gate) IsIdle() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.used == 0
}

// waiter is a request that waits.
type waiter struct {
	owner   Owner
	granted chan struct{} // closed when it has a slot
	at      *list.Element // in the queue of its owner
}

// line is the requests of one priority: a queue for each owner, and the owners in
// the order in which they are next.
type line struct {
	length int
	owners list.List // of *queue
	queues map[Owner]*list.Element
}

type queue struct {
	owner    Owner
	requests list.List // of *waiter
}

func (l *line) add(owner Owner) *waiter {
	e := l.queues[owner]
	if e == nil {
		if l.queues == nil {
			l.queues = map[Owner]*list.Element{}
		}
		e = l.owners.PushBack(&queue{owner: owner})
		l.queues[owner] = e
	}
	r := &waiter{owner: owner, granted: make(chan struct{})}
	r.at = e.Value.(*queue).requests.PushBack(r)
	l.length++
	return r
}

// take removes the request that is next; nil if there is none. Its owner is last
// then.
func (l *line) take() *waiter {
	e := l.owners.Front()
	if e == nil {
		return nil
	}
	r := e.Value.(*queue).requests.Front().Value.(*waiter)
	l.owners.MoveToBack(e)
	l.remove(r)
	return r
}

// remove removes a request, and reports whether it still waited.
func (l *line) remove(r *waiter) bool {
	if r.at == nil {
		return false
	}
	e := l.queues[r.owner]
	q := e.Value.(*queue)
	q.requests.Remove(r.at)
	r.at = nil
	l.length--
	if q.requests.Len() == 0 {
		l.owners.Remove(e)
		delete(l.queues, r.owner)
	}
	return true
}

// before returns how many of the requests that wait are before a new one of an
// owner: all of its own, and of each other owner no more than that and one.
func (l *line) before(owner Owner) int {
	own := 0
	if e := l.queues[owner]; e != nil {
		own = e.Value.(*queue).requests.Len()
	}
	before := own
	for e := l.owners.Front(); e != nil; e = e.Next() {
		if q := e.Value.(*queue); q.owner != owner {
			before += min(q.requests.Len(), own+1)
		}
	}
	return before
}
