package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/moderato-live/moderato/gateway/signin"
	"github.com/moderato-live/moderato/internal/certificates"
	"github.com/moderato-live/moderato/internal/logging"
	"github.com/moderato-live/moderato/internal/tracing"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/event/bus"
	"github.com/moderato-live/moderato/server/event/socketio"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/event/webhooks"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
)

// Config configures a server. A field's zero value selects its default, unless the zero
// value has a meaning of its own.
type Config struct {
	// DB is the URL of the database.
	DB store.URL
	// DBLayer is a layer between the server and the database driver; nil means none.
	DBLayer store.Layer
	// HTTPLayer is a layer around the handler of the REST address; nil means none.
	HTTPLayer func(http.Handler) http.Handler
	// TrustedProxies are the networks of the proxies whose X-Forwarded-For and
	// X-Forwarded-Proto the REST address believes; none means that it believes nobody's.
	TrustedProxies []netip.Prefix
	// HTTPAddr, GRPCAddr and AdminAddr are the addresses to listen on, as host:port.
	HTTPAddr, GRPCAddr, AdminAddr string
	// HTTPTLS and GRPCTLS are the files with which REST and gRPC serve TLS; zero means
	// without TLS.
	HTTPTLS, GRPCTLS certificates.Files
	// HTTPH2C serves HTTP/2 without TLS (h2c) at HTTPAddr as well.
	HTTPH2C bool
	// RateLimit is the number of requests per minute that each client and user may
	// make; 0 disables the limit.
	RateLimit int
	// ChatRate is how fast a sender may post in a channel over the public ChatService; zero
	// disables the limit.
	ChatRate chat.Rate
	// MaxWait is the longest time that a request may wait for a channel or a connection;
	// 0 means DefaultMaxWait.
	MaxWait time.Duration
	// SweepWait is how long the commit of a sweep waits for the end of the sweep; 0 means
	// moderation.DefaultCommitWait.
	SweepWait time.Duration
	// Streams bounds the number of concurrent event streams.
	Streams watch.StreamLimits
	// HTTPConnections and GRPCConnections bound the open connections of the two addresses; 0
	// means a share of the limit of open files.
	HTTPConnections, GRPCConnections int
	// Sockets bounds the Socket.IO connections without a subscription.
	Sockets socketio.Limits
	// MaxListenerChannels is the maximum number of channels whose events a listener may
	// receive without naming a channel; 0 means watch.DefaultMaxChannels.
	MaxListenerChannels int
	// MaxResults is the length of the longest list that is returned without paging; 0
	// means DefaultMaxResults.
	MaxResults int
	// Lifetimes are the lifetimes of tokens whose issuer specifies none; all zero means
	// authn.DefaultLifetimes.
	Lifetimes authn.Lifetimes
	// Retention is how long events are kept; nil means eventtype.DefaultRetention.
	Retention eventtype.Retention
	// MessageRetention is how long messages are kept; 0 is forever.
	MessageRetention time.Duration
	// ChatOverNATS has servers exchange chat messages over the NATS of Bus. ChatSubject is the
	// prefix of its subjects.
	ChatOverNATS bool
	ChatSubject  string
	// Bus configures where events are published; without a URL or a stream they are not published.
	Bus bus.Config
	// CORSOrigins are the origins of web pages that may call the API; empty means any.
	CORSOrigins []string
	// DrainDelay is how long the server continues to accept requests after it was told
	// to stop, so that load balancers can notice.
	DrainDelay time.Duration
	// WebhookAllowPrivate allows webhook receivers in private networks and without TLS,
	// for development and tests.
	WebhookAllowPrivate bool
	// WebhookAllowLoopback allows webhook receivers on this host, also without TLS, for
	// a demo.
	WebhookAllowLoopback bool
	// WebhookTimeout is how long a delivery may take; 0 means webhooks.AttemptTimeout,
	// which is the maximum.
	WebhookTimeout time.Duration
	// WebhookAttempts is the maximum number of concurrent deliveries; 0 means
	// webhooks.DefaultMaxAttempts, or less if the limit of open files is low.
	WebhookAttempts int
	// LoginURL is the platform's sign-in page, to which browsers are sent; empty if there
	// is none.
	LoginURL string
	// PublicURL is the origin at which clients reach REST, such as https://api.example.com. If
	// it is empty, it is that of each request.
	PublicURL string
	// DefaultAvatarURL is the picture of users and categories without one: a URL, or a path
	// of this server such as assets.Avatar. Empty leaves them without.
	DefaultAvatarURL string
	// PictureOrigins are the origins from which the console may load pictures of users, beside
	// the server's own.
	PictureOrigins []string
	// DemoUsers are the users whom the sign-in page of the demo offers; none disables it.
	DemoUsers []signin.DemoUser
	// Tracing says whether and how calls are traced; zero turns tracing off.
	Tracing tracing.Settings
	// Version is that of the program, for people on call.
	Version string
	// Log is the logger of the server; nil means slog.Default.
	Log *slog.Logger
}

// Defaults of Config, which the command line also uses.
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
	if c.Lifetimes == (authn.Lifetimes{}) {
		c.Lifetimes = authn.DefaultLifetimes()
	}
	if c.Retention == nil {
		c.Retention = eventtype.DefaultRetention()
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
	if err := c.checkChat(); err != nil {
		return err
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

// consoleSignsIn reports whether users can sign in to the console: on the platform's page, if the
// operator says to where it returns, or on the page of the demo.
func (c *Config) consoleSignsIn() bool {
	if c.LoginURL == "" {
		return len(c.DemoUsers) > 0
	}
	return c.PublicURL != ""
}

// checkChat checks the settings of chat between servers. JetStream stores what is below the
// subject of events, so chat must be outside.
func (c *Config) checkChat() error {
	switch {
	case !c.ChatOverNATS:
		return nil
	case c.Bus.URL == "":
		return errors.New("chat over NATS needs the URL of NATS; set --nats-url")
	case !bus.IsSubject(c.ChatSubject):
		return fmt.Errorf("the subject of chat %q must be words between dots, without spaces, * and >; set --nats-chat-subject", c.ChatSubject)
	case c.Bus.Publishes() && strings.HasPrefix(c.ChatSubject+".", c.Bus.Subject+"."):
		return errors.New("the subject of chat must not be below that of events; set --nats-chat-subject")
	}
	return nil
}
