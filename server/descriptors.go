package server

import (
	"context"

	"github.com/moderato-live/moderato/server/socketio"
	"github.com/moderato-live/moderato/server/webhooks"
)

// wantedDescriptors is the recommended limit of file descriptors for a server: each
// connection, event stream and webhook delivery uses one.
const wantedDescriptors = 8192

// divideDescriptors bounds event streams, webhook deliveries and Socket.IO connections
// without a subscription by the file descriptors of the process, so that some remain for
// other calls and for the database. It logs a warning if limit is below wantedDescriptors.
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
	if c.Sockets.Idle == 0 {
		c.Sockets.Idle = share(8, socketio.DefaultIdle)
	}
	if limit < wantedDescriptors {
		c.Log.WarnContext(ctx, "limit of open files is low and restricts event streams, webhooks and Socket.IO; raise it (ulimit -n, or LimitNOFILE of systemd)",
			"limit", limit, "wanted", wantedDescriptors, "event_streams", c.Streams.Total, "webhook_attempts", c.WebhookAttempts, "idle_sockets", c.Sockets.Idle)
	}
}
