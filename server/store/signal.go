package store

// Signal wakes one waiter of the same process. Raised while nobody waits, it is
// kept, once.
type Signal chan struct{}

// NewSignal makes a Signal.
func NewSignal() Signal { return make(Signal, 1) }

// Raise wakes the waiter.
func (s Signal) Raise() {
	select {
	case s <- struct{}{}:
	default:
	}
}
