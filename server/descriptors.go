package server

import (
	"context"

	"github.com/moderato-live/moderato/server/event/socketio"
	"github.com/moderato-live/moderato/server/event/webhooks"
)

// wantedDescriptors is the recommended limit of file descriptors for a server: each
// connection, event stream and webhook delivery uses one.
const wantedDescriptors = 8192

// reservedDescriptors is how many file descriptors no client can use: for the connections to the
// database, which are at most 64, the admin address and files.
const reservedDescriptors = 96

// divideDescriptors bounds connections, event streams, webhook deliveries and Socket.IO
// connections without a subscription by the file descriptors of the process, so that some
// remain for the database and the admin address. It logs a warning if limit is below wantedDescriptors.
func (c *Config) divideDescriptors(ctx context.Context, limit uint64) {
	if limit == 0 {
		return
	}
	share := func(parts uint64, most int) int { return int(min(uint64(most), max(4, limit/parts))) }
	if c.WebhookAttempts == 0 {
		c.WebhookAttempts = share(4, webhooks.DefaultMaxAttempts)
	}
	if c.GRPCConnections == 0 {
		c.GRPCConnections = share(8, 1<<20)
	}
	if c.HTTPConnections == 0 {
		others := uint64(c.WebhookAttempts + c.GRPCConnections + reservedDescriptors)
		c.HTTPConnections = int(min(1<<20, max(16, limit-min(limit, others))))
	}
	if c.Streams.Total == 0 {
		c.Streams.Total = min(share(2, 1<<20), c.HTTPConnections*3/4)
	}
	if c.Sockets.Idle == 0 {
		c.Sockets.Idle = share(8, socketio.DefaultIdle)
	}
	if limit < wantedDescriptors {
		c.Log.WarnContext(ctx, "limit of open files is low and restricts connections, event streams, webhooks and Socket.IO; raise it (ulimit -n, or LimitNOFILE of systemd)",
			"limit", limit, "wanted", wantedDescriptors, "http_connections", c.HTTPConnections, "grpc_connections", c.GRPCConnections,
			"event_streams", c.Streams.Total, "webhook_attempts", c.WebhookAttempts, "idle_sockets", c.Sockets.Idle)
	}
}
