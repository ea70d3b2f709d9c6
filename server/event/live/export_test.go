package live

import (
	"context"
	"time"

	"github.com/moderato-live/moderato/internal/uid"
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

// IsUp reports whether the Hub is connected to NATS.
func (h *Hub) IsUp() bool { return h.exchange.link.isUp() }

// Pass passes numbers of one server in one channel through a gate, each with the first of its
// run. It returns which pass, and how many were missed.
func Pass(all [][2]uint64) (passed []bool, missed int) {
	g := &gate{}
	for _, n := range all {
		isNext, m := g.pass(uid.ID{1}, uid.ID{2}, number{n[0], n[1]})
		passed, missed = append(passed, isNext), missed+m
	}
	return passed, missed
}

// TakeNothing has the Hub take no messages of other servers until goOn is called.
func (h *Hub) TakeNothing() (goOn func()) {
	h.exchange.taking.Lock()
	return h.exchange.taking.Unlock
}

// AskAgain has the Hub ask NATS now for what was refused.
func (h *Hub) AskAgain() {
	l := h.exchange.link
	l.refused.Store(&refusal{l.refused.Load().err, time.Time{}})
	l.mustConnect.Raise()
}

// BreakLink gives the Hub a closed connection until repair is called.
func (h *Hub) BreakLink() (repair func()) {
	l := h.exchange.link
	closed, err := l.config.Dial(context.Background(), h.log)
	if err != nil {
		panic(err)
	}
	closed.Close()
	conn := l.conn.Swap(closed)
	return func() { l.conn.Store(conn) }
}
