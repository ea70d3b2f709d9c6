// Package background runs work that servers do without a request.
package background

import (
	"context"
	"log/slog"
	"time"
)

// Every runs work immediately and then at each interval, until ctx ends. Work that fails
// is logged, and retried at the next interval.
func Every(ctx context.Context, interval time.Duration, log *slog.Logger, what string, work func(context.Context) error) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		if err := work(ctx); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "background work failed; it will be tried again", "work", what, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
