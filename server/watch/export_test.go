package watch

import (
	"context"
	"time"

	"github.com/moderato-live/moderato/server/outbox"
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
