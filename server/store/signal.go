package store

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
