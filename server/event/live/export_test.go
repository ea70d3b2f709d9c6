package live

import (
	"context"

	"github.com/moderato-live/moderato/server/store"
)

// The limits that tests need.
const (
	TakingAtOnce = takingAtOnce
	MaxTaking    = maxTaking
)

// WakeAll wakes listeners of a new Hub without a store.
func WakeAll(ctx context.Context, number int) []*Listener {
	h := &Hub{taken: make(chan struct{}, takingAtOnce)}
	listeners := make([]*Listener, number)
	for i := range listeners {
		listeners[i] = &Listener{Wake: store.NewSignal(), hub: h}
	}
	go h.wake(ctx, listeners)
	return listeners
}

// Enter counts a listener without an announcement.
func (h *Hub) Enter() { h.exchange.enter() }
