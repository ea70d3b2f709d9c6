// Package fair shares a bounded number of slots among owners. Waiting owners take turns,
// so that an owner with many requests waits behind its own requests. A request that
// would wait too long is rejected immediately.
package fair

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Priority is how urgent a request for a slot is.
type Priority int

// The priorities.
const (
	// Normal is the priority of most requests.
	Normal Priority = iota
	// High is the priority of requests that overtake normal ones.
	High
	priorities
)

const (
	// highInARow is how many high requests in a row may overtake waiting normal
	// requests, so that no normal request waits forever.
	highInARow = 16

	// initialHold is the expected hold time of a slot before the first sample.
	initialHold = time.Millisecond
	// holdWeight is the inverse of the weight of a new sample in the average.
	holdWeight = 8
	// safeShare is the percentage of Request.MaxWait that the expected wait may reach
	// before a request is rejected: the expectation is an average, and a request that
	// waits in vain is worse than one that is rejected immediately.
	safeShare = 75
	// maxSample bounds a sample to this multiple of the average, and leastBound is the
	// least value of that bound: one holder that hangs must not cause the next
	// requests to be rejected.
	maxSample  = 4
	leastBound = 10 * time.Millisecond
)

// OverloadedError is the error of a request that waited, or would wait, too long.
type OverloadedError struct {
	// RetryAfter is the time after which to retry.
	RetryAfter time.Duration
}

// Error implements error.
func (e *OverloadedError) Error() string {
	return fmt.Sprintf("overloaded: try again after %s", e.RetryAfter)
}

// Gate grants slots. Its methods may be called concurrently.
type Gate struct {
	// MaxWaiting is how many requests of an owner with a MaxWait may wait at the same time,
	// for each priority; 0 means any number. It must not change while the gate is in use.
	MaxWaiting int

	slots int

	mu      sync.Mutex
	used    int
	waiting [priorities]line
	high    int           // how many high requests in a row overtook waiting normal ones
	hold    time.Duration // average time that a slot is held
}

// NewGate returns a gate with a number of slots.
func NewGate(slots int) *Gate {
	return &Gate{slots: slots, hold: initialHold}
}

// Slot is a held slot. The zero Slot holds nothing.
type Slot struct {
	gate   *Gate
	start  time.Time
	served int // how many requests its holder serves: its own, and those it took
}

// IsHeld reports whether the slot is held.
func (s *Slot) IsHeld() bool { return s.gate != nil }

// Take removes up to n waiting requests from the queue and returns their work, which the
// holder then does together with its own. It takes them in the order in which they would be
// served, and ends at the first one whose work accepts refuses or that did not use
// AcquireOrJoin.
func (s *Slot) Take(n int, accepts func(work any) bool) []any {
	if s.gate == nil {
		return nil
	}
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	var taken []any
	for len(taken) < n {
		w := s.gate.waiting[s.gate.choose()].first()
		if w == nil || w.work == nil || !accepts(w.work) {
			break
		}
		s.gate.take()
		w.isTaken = true
		close(w.granted)
		taken = append(taken, w.work)
	}
	s.served += len(taken)
	return taken
}

// Release returns the slot to its gate. Further calls have no effect.
func (s *Slot) Release() {
	if s.gate != nil {
		s.gate.put(time.Since(s.start) / time.Duration(s.served))
		s.gate = nil
	}
}

// Acquire takes a slot for the request of ctx, and waits for one if necessary. A request
// with a MaxWait is rejected without waiting if its expected wait is too long or too many
// requests of its owner wait, and after it has waited for MaxWait. The error is an
// *OverloadedError or that of ctx.
func (g *Gate) Acquire(ctx context.Context) (Slot, error) { return g.acquire(ctx, nil) }

// AcquireOrJoin is Acquire for work that the holder of a slot may take over: see Slot.Take.
// Then it returns a Slot that holds nothing, also if ctx has ended meanwhile.
func (g *Gate) AcquireOrJoin(ctx context.Context, work any) (Slot, error) {
	return g.acquire(ctx, work)
}

func (g *Gate) acquire(ctx context.Context, work any) (Slot, error) {
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
	w.work = work
	g.mu.Unlock()
	return g.wait(ctx, w, r)
}

func (g *Gate) slot() Slot { return Slot{gate: g, start: time.Now(), served: 1} }

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
		if w.isTaken {
			return Slot{}, nil
		}
		return g.slot(), nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-late:
		err = &OverloadedError{RetryAfter: r.MaxWait}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.waiting[r.Priority].remove(w) {
		return Slot{}, err
	}
	if w.isTaken {
		return Slot{}, nil
	}
	g.next() // the slot was granted meanwhile
	return Slot{}, err
}

// put takes back a slot. held is how long it was held for each request that it served.
func (g *Gate) put(held time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sample(held)
	g.next()
}

func (g *Gate) sample(held time.Duration) {
	sample := min(held, max(maxSample*g.hold, leastBound))
	g.hold += (sample - g.hold) / holdWeight
}

// next grants a slot to the next waiting request, or frees it.
func (g *Gate) next() {
	if w := g.take(); w != nil {
		close(w.granted)
		return
	}
	g.used--
}

// take removes and returns the next waiting request; nil if there is none.
func (g *Gate) take() *waiter {
	p := g.choose()
	if p == High && g.waiting[Normal].length > 0 {
		g.high++
	} else {
		g.high = 0
	}
	return g.waiting[p].take()
}

// choose returns the priority of the next request to serve.
func (g *Gate) choose() Priority {
	if g.waiting[High].length > 0 && (g.waiting[Normal].length == 0 || g.high < highInARow) {
		return High
	}
	return Normal
}

// Check returns the *OverloadedError with which Acquire would reject the request of ctx
// without waiting; nil if it would not reject the request.
func (g *Gate) Check(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.used < g.slots {
		return nil
	}
	return g.check(FromContext(ctx))
}

// check returns an *OverloadedError if a request would wait too long, or behind too many
// requests of its owner.
func (g *Gate) check(r Request) error {
	if r.MaxWait == 0 {
		return nil
	}
	own, before := g.waiting[r.Priority].before(r.Owner)
	if r.Priority == Normal {
		before += g.waiting[High].length
	}
	expected := time.Duration(before+1) * g.hold / time.Duration(g.slots)
	isFull := g.MaxWaiting > 0 && own >= g.MaxWaiting
	if !isFull && expected <= r.MaxWait*safeShare/100 {
		return nil
	}
	return &OverloadedError{RetryAfter: expected}
}

// Waiting returns the number of waiting requests.
func (g *Gate) Waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waiting[Normal].length + g.waiting[High].length
}

// Hold returns the average time that a slot is held.
func (g *Gate) Hold() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.hold
}

// SetHold sets the average time that a slot is held, as the start of the estimate.
func (g *Gate) SetHold(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hold = max(d, initialHold/holdWeight)
}

// IsIdle reports whether no request holds a slot or waits for one.
func (g *Gate) IsIdle() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.used == 0
}
