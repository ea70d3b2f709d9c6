package webhooks

import (
	"context"

	"github.com/moderato-live/moderato/server/outbox"
	"github.com/moderato-live/moderato/server/uid"
)

// Advance returns what the Engine does now and then.
func (e *Engine) Advance(ctx context.Context, to, by int64) error {
	_, err := e.advance(ctx, to, by)
	return err
}

// Work works on a webhook until there is nothing to send, or it is another's.
func (e *Engine) Work(ctx context.Context, id uid.ID) {
	newWorker(e, id, e.slots.acquire(candidate{id: id})).run(ctx)
}

// DisableAfterEvents disables the webhooks whose user lost the right through an event of a page.
func (e *Engine) DisableAfterEvents(ctx context.Context, page []*outbox.Event) error {
	return e.disableAfterEvents(ctx, page)
}
