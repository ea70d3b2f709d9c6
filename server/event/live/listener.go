package live

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// maxPending is how many messages wait for a slow listener, and maxDelay is how long.
	// Earlier messages are lost to it.
	maxPending = 2000
	maxDelay   = 2 * time.Second
)

// Listener receives the live events of some types in some channels. It keeps references to the few latest
// batches, which all listeners share.
type Listener struct {
	// Wake is raised when there is something to take.
	Wake store.Signal

	hub   *Hub
	kinds []eventtype.Type

	mu       sync.Mutex
	channels []uid.ID
	isGone   bool
	isWoken  bool // by the hub, and has not taken everything since
	pending  []*Batch
	size     int // the number of messages in pending
	missed   int64
}

// Listen returns a Listener of some types in no channels. When it returns, the other servers know that
// this one has listeners, unless the database cannot be written. The caller must close the
// Listener.
func (h *Hub) Listen(ctx context.Context, kinds ...eventtype.Type) *Listener {
	h.exchange.join(ctx)
	return &Listener{Wake: store.NewSignal(), hub: h, kinds: kinds}
}

// SetChannels sets the channels of which the Listener receives messages. If everywhere is
// true, it receives those of every channel.
func (l *Listener) SetChannels(channels []uid.ID, everywhere bool) {
	h := l.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.isGone {
		return
	}
	l.leave()
	l.channels = channels
	h.exchange.changed(channels)
	if everywhere {
		h.everywhere[l] = struct{}{}
	}
	for _, id := range channels {
		if h.byChannel[id] == nil {
			h.byChannel[id] = map[*Listener]struct{}{}
		}
		h.byChannel[id][l] = struct{}{}
	}
}

// Wait waits until other servers pass on the messages of the channels, or for a bounded time.
func (l *Listener) Wait(ctx context.Context) {
	if link := l.hub.exchange.link; link != nil {
		link.wait(ctx)
	}
}

// leave removes the Listener from its channels. The caller must hold the hub's mu, which
// guards channels and isGone as well.
func (l *Listener) leave() {
	delete(l.hub.everywhere, l)
	l.hub.exchange.changed(l.channels)
	for _, id := range l.channels {
		delete(l.hub.byChannel[id], l)
		if len(l.hub.byChannel[id]) == 0 {
			delete(l.hub.byChannel, id)
		}
	}
	l.channels = nil
}

// Close ends the Listener.
func (l *Listener) Close() {
	l.hub.mu.Lock()
	l.leave()
	l.isGone = true
	l.hub.mu.Unlock()
	l.hub.exchange.leave()
}

// add appends a batch, and reports whether it is the first that waits. The earliest
// batches are lost if the Listener is too slow.
func (l *Listener) add(b *Batch) (isFirst bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = append(l.pending, b)
	l.size += b.size
	l.trim()
	return len(l.pending) == 1
}

// trim removes the batches that have waited too long. The caller must hold mu.
func (l *Listener) trim() {
	n := 0
	for n < len(l.pending) && (l.size > maxPending && n < len(l.pending)-1 || time.Since(l.pending[n].at) > maxDelay) {
		l.size -= l.pending[n].size
		l.missed += int64(l.pending[n].size)
		l.hub.dropped.WithLabelValues(causeSlow).Add(float64(l.pending[n].size))
		n++
	}
	l.pending = slices.Delete(l.pending, 0, n)
}

// wake wakes the Listener for the batches that were added.
func (l *Listener) wake() {
	l.mu.Lock()
	l.isWoken = true
	l.mu.Unlock()
	l.Wake.Raise()
}

// miss records that the Listener missed messages.
func (l *Listener) miss(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.missed += int64(n)
	l.Wake.Raise()
}

// Take returns the next batch, nil if there is none, and the number of messages that were
// lost before it since the last call.
func (l *Listener) Take() (next *Batch, missed int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trim()
	missed, l.missed = l.missed, 0
	if len(l.pending) > 0 {
		next = l.pending[0]
		l.pending = slices.Delete(l.pending, 0, 1)
		l.size -= next.size
		return next, missed
	}
	if l.isWoken {
		l.isWoken = false
		select {
		case l.hub.taken <- struct{}{}:
		default:
		}
	}
	return nil, missed
}
