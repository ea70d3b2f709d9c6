package webhooks

import "context"

// Advance is what the Engine does now and then.
func (e *Engine) Advance(ctx context.Context, to, by int64) error {
	_, err := e.advance(ctx, to, by)
	return err
}
