package store

import (
	"sync/atomic"
	"time"
)

// Signal wakes one waiter in the same process. If nobody waits, one Raise stays pending;
// further calls of Raise have no effect.
type Signal chan struct{}

// NewSignal returns a Signal.
func NewSignal() Signal { return make(Signal, 1) }

// Raise wakes the waiter.
func (s Signal) Raise() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// Latest is the time at which something last happened. Any goroutine may use it.
type Latest struct{ at atomic.Pointer[time.Time] }

// Note notes that it happens now.
func (l *Latest) Note() { l.at.Store(new(time.Now())) }

// IsWithin reports whether it happened less than a time ago.
func (l *Latest) IsWithin(d time.Duration) bool {
	at := l.at.Load()
	return at != nil && time.Since(*at) < d
}
