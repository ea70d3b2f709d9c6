package server

import (
	"context"

	"github.com/moderato-live/moderato/server/webhooks"
)

// wantedDescriptors is how many file descriptors a server should be allowed to have:
// each connection, event stream and delivery to a webhook takes one.
const wantedDescriptors = 8192

// divideDescriptors divides the descriptors that the process may have, so that event
// streams and webhooks leave some for other calls and for the database. It warns if
// there are few.
func (c *Config) divideDescriptors(ctx context.Context, limit uint64) {
	if limit == 0 {
		return
	}
	share := func(parts uint64, most int) int { return int(min(uint64(most), max(4, limit/parts))) }
	if c.Streams.Total == 0 {
		c.Streams.Total = share(2, 1<<20)
	}
	if c.WebhookAttempts == 0 {
		c.WebhookAttempts = share(4, webhooks.DefaultMaxAttempts)
	}
	if limit < wantedDescriptors {
		c.Log.WarnContext(ctx, "few files may be open, which bounds event streams and webhooks; raise the limit (ulimit -n, or LimitNOFILE of systemd)",
			"limit", limit, "wanted", wantedDescriptors, "event_streams", c.Streams.Total, "webhook_attempts", c.WebhookAttempts)
	}
}
