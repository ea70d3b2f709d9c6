package webhooks

import (
	"context"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/outbox"
)

// Advance is the periodic step of the Engine that advances the positions of idle
// webhooks.
func (e *Engine) Advance(ctx context.Context, to, by int64) error {
	_, err := e.advance(ctx, to, by)
	return err
}

// Work processes a webhook until nothing is left to send, or another server has claimed
// it.
func (e *Engine) Work(ctx context.Context, id uid.ID) {
	newWorker(e, id, e.slots.acquire(candidate{id: id})).run(ctx)
}

// DisableAfterEvents disables the webhooks whose user lost the right through an event of a page.
func (e *Engine) DisableAfterEvents(ctx context.Context, page []*outbox.Event) error {
	return e.disableAfterEvents(ctx, page)
}
