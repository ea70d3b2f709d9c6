package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	moderato "github.com/moderato-live/moderato/clients/go"
	"github.com/moderato-live/moderato/console"
	"github.com/moderato-live/moderato/docs/site"
	"github.com/moderato-live/moderato/gateway/signin"
	"github.com/moderato-live/moderato/internal/tracing"
	"github.com/moderato-live/moderato/server"
	"github.com/moderato-live/moderato/server/cli/crowd"
	"github.com/moderato-live/moderato/server/demo"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/event/bus"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
)

type serve struct {
	database
	lifetimes
	retentionFlag
	MessageRetention messageRetention `help:"How long chat messages are kept: 0 (forever), or 30d or more." default:"0" env:"MODERATO_MESSAGE_RETENTION"`
	tlsFlags
	HTTPAddr            listenAddr      `name:"http-addr" help:"Listen address for REST." default:"${http_addr}" env:"MODERATO_HTTP_ADDR"`
	GRPCAddr            listenAddr      `name:"grpc-addr" help:"Listen address for gRPC, with health and reflection." default:"${grpc_addr}" env:"MODERATO_GRPC_ADDR"`
	AdminAddr           listenAddr      `name:"admin-addr" help:"Listen address for /healthz, /readyz, /metrics and /debug/pprof." default:"${admin_addr}" env:"MODERATO_ADMIN_ADDR"`
	HTTPH2C             bool            `name:"http-h2c" help:"Serve REST also over HTTP/2 without TLS (h2c), for a proxy that needs it." env:"MODERATO_HTTP_H2C"`
	RateLimit           requestRate     `help:"Requests a minute for each client and user; 0 is off." default:"${rate_limit}" env:"MODERATO_RATE_LIMIT"`
	ChatRate            chat.Rate       `help:"Messages and time for each sender in a channel, five times as many for its owner and moderators; 0 is off." default:"${chat_rate}" env:"MODERATO_CHAT_RATE"`
	MaxWait             time.Duration   `help:"Maximum time that a request waits for a channel or a connection. A request that would wait longer is rejected immediately." default:"${max_wait}" env:"MODERATO_MAX_WAIT"`
	StreamsPerUser      positive        `name:"max-streams-per-user" help:"Maximum number of open event streams per user and client." default:"${streams_per_user}" env:"MODERATO_MAX_STREAMS_PER_USER"`
	StreamsPerToken     positive        `name:"max-streams-per-token" help:"Maximum number of open event streams per app, for all of its tokens, or per service token." default:"${streams_per_token}" env:"MODERATO_MAX_STREAMS_PER_TOKEN"`
	MaxListenerChannels positive        `help:"Maximum number of channels that a listener receives without naming one." default:"${listener_channels}" env:"MODERATO_MAX_LISTENER_CHANNELS"`
	MaxResults          positive        `help:"Maximum number of items in an unpaginated response." default:"${max_results}" env:"MODERATO_MAX_RESULTS"`
	CORSOrigins         []origin        `name:"cors-origins" help:"Origins of web pages that may call /v1. Default: any." env:"MODERATO_CORS_ORIGINS" placeholder:"ORIGIN"`
	NATSURL             string          `name:"nats-url" help:"Publish every event to NATS JetStream: nats://HOST:PORT or tls://, several separated by commas. If unset, events are not published." env:"MODERATO_NATS_URL" placeholder:"URL"`
	ChatExchange        string          `help:"How servers pass chat messages on to each other: table, through the database, or nats, over the NATS of --nats-url. All servers must use the same." default:"table" enum:"table,nats" env:"MODERATO_CHAT_EXCHANGE"`
	NATSChatSubject     string          `name:"nats-chat-subject" help:"Prefix of the subjects of chat: SUBJECT.CHANNEL." default:"moderato.chat" env:"MODERATO_NATS_CHAT_SUBJECT"`
	NATSCreds           string          `name:"nats-credentials" help:"A file of NATS credentials." env:"MODERATO_NATS_CREDENTIALS" placeholder:"FILE" type:"existingfile"`
	NATSStream          string          `name:"nats-stream" help:"The JetStream stream; created if it does not exist. Empty: events are not published, and NATS needs no JetStream." default:"MODERATO" env:"MODERATO_NATS_STREAM"`
	NATSSubject         string          `name:"nats-subject" help:"Prefix of subjects: SUBJECT.CHANNEL.TYPE." default:"moderato.events" env:"MODERATO_NATS_SUBJECT"`
	DrainDelay          time.Duration   `help:"Time to keep serving after SIGTERM, so that load balancers notice." default:"0s" env:"MODERATO_DRAIN_DELAY"`
	TrustedProxies      []netip.Prefix  `help:"Networks of the proxies in front of REST, as CIDRs, whose X-Forwarded-For and X-Forwarded-Proto are believed." env:"MODERATO_TRUSTED_PROXIES" placeholder:"CIDR,…"`
	WebhookAllowPrivate bool            `help:"Let webhooks call private addresses, and http; for development." env:"MODERATO_WEBHOOK_ALLOW_PRIVATE"`
	PublicURL           publicURL       `name:"public-url" help:"Origin at which clients reach REST, such as https://api.example.com. Default: that of each request." env:"MODERATO_PUBLIC_URL" placeholder:"ORIGIN"`
	DefaultAvatarURL    pictureURL      `name:"default-avatar-url" help:"Picture of users and categories without one, and of live streams: a URL, or a path of this server. Empty: none." default:"${default_avatar}" env:"MODERATO_DEFAULT_AVATAR_URL" placeholder:"URL"`
	PictureOrigins      []pictureOrigin `name:"picture-origins" help:"Origins from which the console may load pictures of users, such as https://cdn.example.com. Users with pictures elsewhere have initials." env:"MODERATO_PICTURE_ORIGINS" placeholder:"ORIGIN"`
	LoginURL            loginURL        `name:"login-url" help:"The platform's sign-in page, to which /oauth2/authorize sends browsers. If unset, sign-in is disabled." env:"MODERATO_LOGIN_URL" placeholder:"URL"`
	LogLevel            string          `help:"Minimum log level: debug, info, warn or error." enum:"debug,info,warn,error" default:"info" env:"MODERATO_LOG_LEVEL"`
	LogFormat           string          `help:"text, json, or auto: text on a terminal." enum:"auto,text,json" default:"auto" env:"MODERATO_LOG_FORMAT"`
	Demo                bool            `help:"Load the demo data and print how to use it." env:"MODERATO_DEMO"`
	DemoChat            string          `help:"Whether the viewers of the demo chat: on or off." enum:"on,off" default:"on" env:"MODERATO_DEMO_CHAT"`

	tracing tracing.Settings
}

// retentionFlag holds the retention flag, which serve and fsck share.
type retentionFlag struct {
	Retention retention `name:"event-retention" help:"Retention of events and the moderation log: TYPE=DURATION,…; default=DURATION sets all types, 0 keeps events forever. Default: 730d for moderation, 90d for the audience and streams." default:"" env:"MODERATO_EVENT_RETENTION" placeholder:"TYPE=DURATION"`
}

// retention is an eventtype.Retention as a flag.
type retention eventtype.Retention

// UnmarshalText parses the flag.
func (r *retention) UnmarshalText(text []byte) error {
	parsed, err := eventtype.ParseRetention(eventtype.DefaultRetention(), string(text))
	if err != nil {
		return fmt.Errorf("the retention %w", err)
	}
	*r = retention(parsed)
	return nil
}

// messageRetention is how long messages are kept, as a flag.
type messageRetention time.Duration

// UnmarshalText parses the flag.
func (r *messageRetention) UnmarshalText(text []byte) error {
	keep, err := eventtype.ParseDays(string(text))
	if err != nil || (keep != 0 && keep < chat.MinRetention) {
		return fmt.Errorf("%q must be 0, which keeps all messages, or at least 30 days, such as 180d", text)
	}
	*r = messageRetention(keep)
	return nil
}

// Validate rejects flags that contradict each other.
func (c *serve) Validate() error {
	if err := c.lifetimes.Validate(); err != nil {
		return err
	}
	if c.Demo && (c.HTTPTLSCert != "" || c.GRPCTLSCert != "") {
		return errors.New("--demo does not support TLS; omit --http-tls-cert and --grpc-tls-cert")
	}
	var err error
	if c.tracing, err = tracing.FromEnv(os.Getenv, currentBuild().String()); err != nil {
		return err
	}
	return c.validate()
}

// Run serves until the process receives SIGINT or SIGTERM.
func (c *serve) Run(ctx context.Context, s *streams) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process immediately
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		return fmt.Errorf("--log-level: %w", err)
	}
	log := newLog(s.err, level, c.LogFormat)
	if c.Demo {
		log = slog.New(crowd.Quiet(log.Handler()))
	}
	if os.Getenv("GOGC") == "" {
		collectRarely()
	}
	srv, err := server.New(ctx, server.Config{
		DB:                  store.URL(c.DB),
		TrustedProxies:      c.TrustedProxies,
		HTTPAddr:            string(c.HTTPAddr),
		GRPCAddr:            string(c.GRPCAddr),
		AdminAddr:           string(c.AdminAddr),
		HTTPTLS:             c.http(),
		GRPCTLS:             c.grpc(),
		HTTPH2C:             c.HTTPH2C,
		RateLimit:           int(c.RateLimit),
		ChatRate:            c.ChatRate,
		MaxWait:             c.MaxWait,
		Streams:             watch.StreamLimits{PerUser: int(c.StreamsPerUser), PerToken: int(c.StreamsPerToken)},
		MaxListenerChannels: int(c.MaxListenerChannels),
		MaxResults:          int(c.MaxResults),
		Lifetimes:           c.Lifetimes(),
		Retention:           eventtype.Retention(c.Retention),
		MessageRetention:    time.Duration(c.MessageRetention),
		Bus:                 bus.Config{URL: c.NATSURL, Credentials: c.NATSCreds, Stream: c.NATSStream, Subject: c.NATSSubject},
		ChatOverNATS:        c.ChatExchange == "nats",
		ChatSubject:         c.NATSChatSubject,
		WebhookAllowPrivate: c.WebhookAllowPrivate,
		// A caller that reaches a demo on loopback addresses is on this host anyway. A
		// demo that other hosts reach would give them access to services that listen on
		// this host only.
		WebhookAllowLoopback: c.Demo && c.HTTPAddr.isLoopback() && c.GRPCAddr.isLoopback(),
		CORSOrigins:          texts(c.CORSOrigins),
		PictureOrigins:       texts(c.PictureOrigins),
		DrainDelay:           c.DrainDelay,
		LoginURL:             string(c.LoginURL),
		PublicURL:            string(c.PublicURL),
		DefaultAvatarURL:     string(c.DefaultAvatarURL),
		DemoUsers:            c.demoUsers(),
		Tracing:              c.tracing,
		Version:              currentBuild().String(),
		Log:                  log,
	})
	if err != nil {
		return err
	}
	log.InfoContext(ctx, "listening", "rest", srv.HTTPAddr, "grpc", srv.GRPCAddr, "admin", srv.AdminAddr,
		"db", store.URL(c.DB).String(), "version", currentBuild().String())
	if !c.Demo {
		return serveUntil(ctx, srv)
	}
	tokens, err := demo.Load(ctx, srv.Store, srv.Origin())
	if err != nil {
		srv.Close()
		return fmt.Errorf("load the demo: %w", err)
	}
	cast := demo.People()
	srv.Docs.Prefill(site.Credentials{
		Client: cast.Client, Token: tokens.Owner, User: cast.Owner.DisplayName,
		Receiver: "http://127.0.0.1:9999/", // where the receivers of docs/webhooks.md listen
	})
	demo.WriteTour(s.out, demo.Addresses{REST: srv.HTTPAddr, GRPC: srv.GRPCAddr, Admin: srv.AdminAddr, Console: srv.Origin() + console.Path}, tokens)
	stopChat, err := c.startChat(ctx, srv.GRPCAddr, tokens.Viewers)
	if err != nil {
		srv.Close()
		return err
	}
	defer stopChat()
	return serveUntil(ctx, srv)
}

// startChat has the viewers of the demo chat until ctx ends, or the function that it returns is
// called.
func (c *serve) startChat(ctx context.Context, address, token string) (stop func(), err error) {
	if c.DemoChat == "off" {
		return func() {}, nil
	}
	client, err := moderato.New(moderato.Config{Address: address, Plaintext: true, ClientID: demo.ViewersClient, Tokens: moderato.StaticToken(token)})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { crowd.Run(ctx, client, uint64(time.Now().UnixNano())) }) //nolint:gosec // any number is a seed
	return func() {
		cancel()
		running.Wait()
		_ = client.Close()
	}, nil
}

// serveUntil serves until ctx ends, and tells systemd.
func serveUntil(ctx context.Context, srv *server.Server) error {
	notify(ctx, "READY=1")
	context.AfterFunc(ctx, func() { notify(context.WithoutCancel(ctx), "STOPPING=1") })
	return srv.Serve(ctx)
}

// demoUsers returns whom the demo's sign-in page offers; nobody without the demo.
func (c *serve) demoUsers() []signin.DemoUser {
	if !c.Demo {
		return nil
	}
	var users []signin.DemoUser
	for _, u := range demo.SignInUsers() {
		users = append(users, signin.DemoUser{ID: u.ID, Name: u.DisplayName, Role: u.Role})
	}
	return users
}

// publicURL is the origin of the server, as a flag.
type publicURL string

var publicForm = regexp.MustCompile(`^https?://[A-Za-z0-9._:\[\]-]+$`)

// UnmarshalText parses the flag.
func (u *publicURL) UnmarshalText(text []byte) error {
	if !publicForm.Match(text) {
		return fmt.Errorf("%q must be an origin such as https://api.example.com", text)
	}
	*u = publicURL(text)
	return nil
}

// pictureURL is the URL of a picture or a path of the server, as a flag; it may be empty.
type pictureURL string

// UnmarshalText parses the flag.
func (u *pictureURL) UnmarshalText(text []byte) error {
	parsed, err := url.Parse(string(text))
	isPath := err == nil && parsed.Scheme == "" && parsed.Host == "" && strings.HasPrefix(parsed.Path, "/")
	isURL := err == nil && (parsed.Scheme == "https" || parsed.Scheme == "http") && parsed.Host != ""
	if len(text) > 0 && !isPath && !isURL {
		return fmt.Errorf("%q must be a URL such as https://cdn.example.com/avatar.png, or a path such as /assets/avatar.svg", text)
	}
	*u = pictureURL(text)
	return nil
}

// loginURL is the URL of a page, as a flag.
type loginURL string

// UnmarshalText parses the flag.
func (u *loginURL) UnmarshalText(text []byte) error {
	parsed, err := url.Parse(string(text))
	if err != nil || (parsed.Scheme != "https" && parsed.Scheme != "http") || parsed.Host == "" || parsed.Fragment != "" {
		return fmt.Errorf("%q must be an address such as https://example.com/login", text)
	}
	*u = loginURL(text)
	return nil
}

// listenAddr is a host:port to listen on, as a flag.
type listenAddr string

// UnmarshalText parses the flag.
func (a *listenAddr) UnmarshalText(text []byte) error {
	if _, _, err := net.SplitHostPort(string(text)); err != nil {
		return fmt.Errorf("%q must be HOST:PORT, such as 127.0.0.1:8080 or :8080", text)
	}
	*a = listenAddr(text)
	return nil
}

// isLoopback reports whether the address is reachable only from this host.
func (a listenAddr) isLoopback() bool {
	host, _, _ := net.SplitHostPort(string(a))
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && ip.Unmap().IsLoopback())
}

// origin is an Origin header value as browsers send it, or a pattern for one with one *.
type origin string

var originForm = regexp.MustCompile(`^(\*|[A-Za-z][A-Za-z0-9+.-]*://[^/?#@\s]+)$`)

// UnmarshalText parses the flag. It rejects values that would silently match no page.
func (o *origin) UnmarshalText(text []byte) error {
	if !originForm.Match(text) {
		return fmt.Errorf("%q must be a scheme, a host and a port if it is not the scheme's, such as https://dash.example.com", text)
	}
	*o = origin(text)
	return nil
}

// pictureOrigin is the origin of pictures, as a flag. It becomes a part of a header.
type pictureOrigin string

var pictureOriginForm = regexp.MustCompile(`^https://[a-z0-9.-]+(:[0-9]{1,5})?$`)

// UnmarshalText parses the flag.
func (o *pictureOrigin) UnmarshalText(text []byte) error {
	if !pictureOriginForm.Match(text) {
		return fmt.Errorf("%q must be an origin such as https://cdn.example.com, in lower case", text)
	}
	*o = pictureOrigin(text)
	return nil
}

func texts[T ~string](origins []T) []string {
	var all []string
	for _, o := range origins {
		all = append(all, string(o))
	}
	return all
}

// requestRate is an integer flag of 0 or more.
type requestRate int

// UnmarshalText parses the flag.
func (r *requestRate) UnmarshalText(text []byte) error {
	return parseBounded(text, 0, (*int)(r))
}

// positive is an integer flag of 1 or more.
type positive int

// UnmarshalText parses the flag.
func (p *positive) UnmarshalText(text []byte) error {
	return parseBounded(text, 1, (*int)(p))
}

func parseBounded(text []byte, least int, to *int) error {
	n, err := strconv.Atoi(string(text))
	if err != nil || n < least {
		return fmt.Errorf("%q must be a whole number of %d or more", text, least)
	}
	*to = n
	return nil
}
