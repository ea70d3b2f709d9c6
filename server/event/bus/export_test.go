package bus

import (
	"context"
	"log/slog"
	"time"

	"github.com/moderato-live/moderato/server/event/outbox"
)

// Publish publishes a page from its beginning, and starts no publication after until.
func Publish(ctx context.Context, config Config, page []*outbox.Event, until time.Time) (done int64, err error) {
	p, err := connect(ctx, config, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		return 0, err
	}
	defer p.close()
	if err := p.prepare(ctx); err != nil {
		return 0, err
	}
	return p.publish(ctx, page, 0, until)
}
