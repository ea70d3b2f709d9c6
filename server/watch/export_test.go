package watch

import (
	"context"
	"time"

	"github.com/moderato-live/moderato/server/authn"
	"github.com/moderato-live/moderato/server/hearing"
	"github.com/moderato-live/moderato/server/outbox"
	"github.com/moderato-live/moderato/server/uid"
)

// Read has the hub read what is new, as Run does.
func (h *Hub) Read(ctx context.Context) error { return h.read(ctx) }

// FromStore has a listener read from the store who found the ring's floor at a
// position.
func (s *Subscription) FromStore(ctx context.Context, floor int64) ([]*outbox.Event, error) {
	return s.fromStore(ctx, floor)
}

// LookAgain has the next Read look whether what the hub holds is outdated.
func (h *Hub) LookAgain() { h.lookedAt = time.Time{} }

// Add adds a listener that named no channel, and whose token is not checked.
func (r *Rights) Add(caller *authn.Caller) { r.AddNamed(caller, uid.ID{}) }

// AddNamed is Add for a listener that named a channel and types.
func (r *Rights) AddNamed(caller *authn.Caller, channelID uid.ID, types ...outbox.Type) {
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
func (l *Listener) MayHear(channelID uid.ID, kind outbox.Type) bool {
	isFresh, may, _ := l.look(channelID, kind)
	return isFresh && may && l.Err() == nil
}

// Check checks the rights of all listeners, as Run does.
func (r *Rights) Check(ctx context.Context) error { return r.checkRights(ctx, r.all()) }

// Age makes the channels of all listeners appear to have been read long ago.
func (r *Rights) Age() {
	for _, l := range r.all() {
		l.mu.Lock()
		l.readAt = time.Time{}
		l.mu.Unlock()
	}
}
