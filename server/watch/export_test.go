package watch

import (
	"context"
	"time"

	"github.com/moderato-live/moderato/server/authn"
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
func (r *Rights) Add(caller *authn.Caller) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listeners == nil {
		r.listeners = map[*listener]struct{}{}
	}
	r.listeners[newListener(caller, uid.ID{}, nil)] = struct{}{}
}

// Admit is what WatchEvents does with a new listener, which named the channel only.
func (r *Rights) Admit(ctx context.Context, caller *authn.Caller, only uid.ID) (*listener, error) {
	return r.admit(ctx, caller, only, nil)
}

// MayHear reports whether the listener receives events of a channel, without waiting.
func (l *listener) MayHear(channelID uid.ID) bool {
	isFresh, may, _ := l.look(channelID)
	return isFresh && may && l.err() == nil
}

// Err returns why the listener was ended.
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
