package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/moderato-live/moderato/server/auth"
	"github.com/moderato-live/moderato/server/bus"
	"github.com/moderato-live/moderato/server/events"
	"github.com/moderato-live/moderato/server/logging"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/webhooks"
)

// Config is what a server is told at its start. The zero value of a field that
// has no meaning as such is its default.
type Config struct {
	// DB is the database.
	DB store.URL
	// DBLayer is between the server and the database's driver; nil is nothing.
	DBLayer store.Layer
	// HTTPAddr, GRPCAddr and AdminAddr are host:port to listen on.
	HTTPAddr, GRPCAddr, AdminAddr string
	// RateLimit is how many requests a minute each client and user may make; 0
	// turns the limit off.
	RateLimit int
	// MaxWait is the longest that a request may wait for a channel or a connection; 0
	// is DefaultMaxWait.
	MaxWait time.Duration
	// Streams bounds the event streams that are open at once.
	Streams events.StreamLimits
	// MaxListenerChannels is how many channels a listener may hear of without naming
	// one; 0 is events.DefaultMaxChannels.
	MaxListenerChannels int
	// MaxResults is the longest list that is answered without paging; 0 is 50,000.
	MaxResults int
	// Lifetimes are how long tokens live whose issuer does not say; all zero is
	// auth.DefaultLifetimes.
	Lifetimes auth.Lifetimes
	// Retention is how long events are kept; nil is events.DefaultRetention.
	Retention events.Retention
	// Bus is where events are published; without URL nowhere.
	Bus bus.Config
	// CORSOrigins are the origins of web pages that may call; empty is any.
	CORSOrigins []string
	// DrainDelay is how long the server goes on taking requests after it was told
	// to stop, while load balancers learn of it.
	DrainDelay time.Duration
	// WebhookAllowPrivate lets webhooks have receivers in private networks and
	// without TLS: for development and tests.
	WebhookAllowPrivate bool
	// WebhookAllowLoopback lets webhooks have receivers on this host, without TLS
	// too: for a demo.
	WebhookAllowLoopback bool
	// WebhookTimeout is how long a delivery may take; 0 is webhooks.AttemptTimeout,
	// which is the longest.
	WebhookTimeout time.Duration
	// WebhookAttempts is how many deliveries are under way at once; 0 is
	// webhooks.DefaultMaxAttempts, or less where few files may be open.
	WebhookAttempts int
	// Log is where the server logs; nil is slog's default.
	Log *slog.Logger
}

// Defaults of Config, also shown by the command line.
const (
	DefaultDB         = "sqlite:moderato.db"
	DefaultHTTPAddr   = "127.0.0.1:8080"
	DefaultGRPCAddr   = "127.0.0.1:9090"
	DefaultAdminAddr  = "127.0.0.1:9091"
	DefaultRateLimit  = 1200
	DefaultMaxResults = 50_000
	DefaultMaxWait    = 2 * time.Second
)

func (c *Config) complete(ctx context.Context) error {
	if c.MaxResults == 0 {
		c.MaxResults = DefaultMaxResults
	}
	if c.MaxWait == 0 {
		c.MaxWait = DefaultMaxWait
	}
	if c.Lifetimes == (auth.Lifetimes{}) {
		c.Lifetimes = auth.DefaultLifetimes()
	}
	if c.Retention == nil {
		c.Retention = events.DefaultRetention()
	}
	if c.WebhookTimeout == 0 {
		c.WebhookTimeout = webhooks.AttemptTimeout
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	c.Log = slog.New(logging.Bounded(c.Log.Handler()))
	c.divideDescriptors(ctx, descriptorLimit())
	c.WebhookAttempts = cmp.Or(c.WebhookAttempts, webhooks.DefaultMaxAttempts)
	if c.DB == (store.URL{}) {
		return errors.New("the configuration names no database")
	}
	if c.Bus.URL != "" {
		if err := c.Bus.Check(); err != nil {
			return err
		}
	}
	for name, addr := range map[string]string{"HTTP": c.HTTPAddr, "gRPC": c.GRPCAddr, "admin": c.AdminAddr} {
		if _, _, err := net.SplitHostPort(addr); err != nil {
			return fmt.Errorf("%s address %q: must be host:port", name, addr)
		}
	}
	return nil
}

func (c *Config) webhookReach() webhooks.Reach {
	switch {
	case c.WebhookAllowPrivate:
		return webhooks.Anywhere
	case c.WebhookAllowLoopback:
		return webhooks.Loopback
	}
	return webhooks.Public
}
