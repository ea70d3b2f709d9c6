package watch

import (
	"context"
	"time"

	"github.com/moderato-live/moderato/server/authn"
	"github.com/moderato-live/moderato/server/outbox"
	"github.com/moderato-live/moderato/server/uid"
)

// Read reads new events into the hub, as Run does.
func (h *Hub) Read(ctx context.Context) error { return h.read(ctx) }

// FromStore reads the next page from the store, for a listener that is behind a ring whose
// floor is at a position.
func (s *Subscription) FromStore(ctx context.Context, floor int64) ([]*outbox.Event, error) {
	return s.fromStore(ctx, floor)
}

// ExpireLook makes the next Read query whether the events of the hub are outdated.
func (h *Hub) ExpireLook() { h.lookedAt = time.Time{} }

// Add adds a listener without a channel filter. Its token is not checked.
func (r *Rights) Add(caller *authn.Caller) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listeners == nil {
		r.listeners = map[*listener]struct{}{}
	}
	r.listeners[newListener(caller, uid.ID{}, nil)] = struct{}{}
}

// Admit admits a listener of the channel only, as WatchEvents does. The zero ID means every
// channel that the caller may watch.
func (r *Rights) Admit(ctx context.Context, caller *authn.Caller, only uid.ID) (*listener, error) {
	return r.admit(ctx, caller, only, nil)
}

// MayReceive reports whether the listener currently receives events of a channel.
func (l *listener) MayReceive(channelID uid.ID) bool {
	isFresh, may, _ := l.look(channelID)
	return isFresh && may && l.err() == nil
}

// Err returns why the listener ended, or nil while it is active.
func (l *listener) Err() error { return l.err() }

// Check checks the rights of all listeners, as its job does.
func (r *Rights) Check(ctx context.Context) error { return r.checkAllRights(ctx) }

// Age makes the channels of all listeners appear to have been read long ago.
func (r *Rights) Age() {
	for _, l := range r.all() {
		l.mu.Lock()
		l.readAt = time.Time{}
		l.mu.Unlock()
	}
}
