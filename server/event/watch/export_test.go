package watch

import (
	"context"
	"time"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/hearing"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
)

// Read reads new events into the hub, as Run does.
func (h *Hub) Read(ctx context.Context) error { return h.read(ctx) }

// FromStore reads the next page from the store, for a listener that is behind a ring whose
// floor is at a position.
func (s *Subscription) FromStore(ctx context.Context, floor int64) ([]*outbox.Event, error) {
	return s.fromStore(ctx, floor)
}

// IsCaughtUp reports whether no event that the hub has read concerns the listener.
func (s *Subscription) IsCaughtUp() bool {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	return s.isCaughtUp
}

// Add adds a page to the ring, and wakes the subscriptions that it concerns.
func (h *Hub) Add(after int64, page []*outbox.Event) { h.add(after, page, false, h.rewrites.Load()) }

// ExpireLook makes the next Read query whether the events of the hub are outdated.
func (h *Hub) ExpireLook() { h.lookedAt = time.Time{} }

// Add adds a listener that named no channel, and whose token is not checked.
func (r *Rights) Add(caller *authn.Caller) { r.AddNamed(caller, uid.ID{}) }

// AddNamed is Add for a listener that named a channel and types.
func (r *Rights) AddNamed(caller *authn.Caller, channelID uid.ID, types ...eventtype.Type) {
	wish, err := hearing.Ask(caller, channelID, types)
	if err != nil {
		panic(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listeners == nil {
		r.listeners = map[*Listener]struct{}{}
	}
	r.listeners[newListener(wish)] = struct{}{}
}

// MayHear reports whether the listener hears events of a type in a channel, without
// waiting.
func (l *Listener) MayHear(channelID uid.ID, kind eventtype.Type) bool {
	isFresh, may, _ := l.look(channelID, kind)
	return isFresh && may && l.Err() == nil
}

// Listeners returns all listeners.
func (r *Rights) Listeners() []*Listener { return r.all() }

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
