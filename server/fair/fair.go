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
	passed any
}

// IsHeld reports whether the slot is held.
func (s *Slot) IsHeld() bool { return s.gate != nil }

// Passed returns the value with which an earlier holder passed the slot on; nil if the
// slot was free or was released.
func (s *Slot) Passed() any { return s.passed }

// Pass passes the slot with a value to the request that is served next, and reports
// whether it did. It does not if no request waits, if the next one did not use
// AcquireOrJoin, or if its priority is lower than least. The slot is then still held.
func (s *Slot) Pass(value any, least Priority) bool {
	if s.gate == nil || !s.gate.pass(time.Since(s.start), value, least) {
		return false
	}
	s.gate = nil
	return true
}

// Next returns the Announced values of up to n waiting requests to which the holder could pass
// the slot. The requests with high priority come first, in the order in which they will be
// served, followed by the normal ones unless least is High. No waiting request is served
// before the holder releases the slot or passes it on.
func (s *Slot) Next(n int, least Priority) []any {
	if s.gate == nil {
		return nil
	}
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	if least == High && s.gate.waiting[Normal].length > 0 {
		n = min(n, highInARow-s.gate.high) // a normal request is served after these
	}
	var announced []any
	for p := High; p >= least; p-- {
		for _, w := range s.gate.waiting[p].upTo(n) {
			if !w.joins {
				return announced
			}
			n--
			if w.announced != nil {
				announced = append(announced, w.announced)
			}
		}
	}
	return announced
}

// Release returns the slot to its gate. Further calls have no effect.
func (s *Slot) Release() {
	if s.gate != nil {
		s.gate.put(time.Since(s.start))
		s.gate = nil
	}
}

// Acquire takes a slot for the request of ctx, and waits for one if necessary. A request
// with a MaxWait is rejected without waiting if its expected wait is too long or too many
// requests of its owner wait, and after it has waited for MaxWait. The error is an
// *OverloadedError or that of ctx.
func (g *Gate) Acquire(ctx context.Context) (Slot, error) { return g.acquire(ctx, false) }

// AcquireOrJoin is Acquire for a request that can use what an earlier holder passes on
// with the slot: see Slot.Pass. Then it succeeds even if ctx has ended, because the caller
// is responsible for what was passed.
func (g *Gate) AcquireOrJoin(ctx context.Context) (Slot, error) { return g.acquire(ctx, true) }

func (g *Gate) acquire(ctx context.Context, joins bool) (Slot, error) {
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
	w.joins, w.announced = joins, r.Announced
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
		return Slot{gate: g, start: time.Now(), passed: w.passed}, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-late:
		err = &OverloadedError{RetryAfter: r.MaxWait}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.waiting[r.Priority].remove(w) { // the slot was granted meanwhile
		if w.passed != nil {
			return Slot{gate: g, start: time.Now(), passed: w.passed}, nil
		}
		g.next()
	}
	return Slot{}, err
}

// put takes back a slot that was held for a time.
func (g *Gate) put(held time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sample(held)
	g.next()
}

// pass passes a slot that was held for a time to the next waiting request, with a value. It
// reports whether it did.
func (g *Gate) pass(held time.Duration, value any, least Priority) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.choose()
	w := g.waiting[p].first()
	if w == nil || !w.joins || p < least {
		return false
	}
	g.sample(held)
	w.passed = value
	g.next()
	return true
}

func (g *Gate) sample(held time.Duration) {
	sample := min(held, max(maxSample*g.hold, leastBound))
	g.hold += (sample - g.hold) / holdWeight
}

// next grants a slot to the next waiting request, or frees it.
func (g *Gate) next() {
	p := g.choose()
	if p == High && g.waiting[Normal].length > 0 {
		g.high++
	} else {
		g.high = 0
	}
	if w := g.waiting[p].take(); w != nil {
		close(w.granted)
		return
	}
	g.used--
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
