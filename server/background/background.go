// Package background runs work that servers do of their own accord.
package background

import (
	"context"
	"log/slog"
	"time"
)

// Every does some work now and then again after each interval, until ctx ends.
// Work that fails is tried again at its next time.
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
