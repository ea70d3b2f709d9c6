package cli

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"github.com/moderato-live/moderato/server"
	"github.com/moderato-live/moderato/server/bus"
	"github.com/moderato-live/moderato/server/demo"
	"github.com/moderato-live/moderato/server/events"
	"github.com/moderato-live/moderato/server/store"
)

type serve struct {
	database
	lifetimes
	retentionFlag
	HTTPAddr            listenAddr    `name:"http-addr" help:"Where REST listens." default:"${http_addr}" env:"MODERATO_HTTP_ADDR"`
	GRPCAddr            listenAddr    `name:"grpc-addr" help:"Where gRPC listens, with health and reflection." default:"${grpc_addr}" env:"MODERATO_GRPC_ADDR"`
	AdminAddr           listenAddr    `name:"admin-addr" help:"Where /healthz, /readyz, /metrics and /debug/pprof listen." default:"${admin_addr}" env:"MODERATO_ADMIN_ADDR"`
	RateLimit           requestRate   `help:"Requests a minute for each client and user; 0 is off." default:"${rate_limit}" env:"MODERATO_RATE_LIMIT"`
	MaxWait             time.Duration `help:"The longest that a request may wait for a channel or a connection; one that would wait longer is rejected at once." default:"${max_wait}" env:"MODERATO_MAX_WAIT"`
	StreamsPerUser      positive      `name:"max-streams-per-user" help:"Event streams that a user may have open through a client." default:"${streams_per_user}" env:"MODERATO_MAX_STREAMS_PER_USER"`
	StreamsPerToken     positive      `name:"max-streams-per-token" help:"Event streams that an app or service token may have open." default:"${streams_per_token}" env:"MODERATO_MAX_STREAMS_PER_TOKEN"`
	MaxListenerChannels positive      `help:"Channels that a listener may hear of without naming one." default:"${listener_channels}" env:"MODERATO_MAX_LISTENER_CHANNELS"`
	MaxResults          positive      `help:"The longest list that is answered without paging." default:"${max_results}" env:"MODERATO_MAX_RESULTS"`
	CORSOrigins         []origin      `name:"cors-origins" help:"Origins of web pages that may call /v1; any when not given." env:"MODERATO_CORS_ORIGINS" placeholder:"ORIGIN"`
	NATSURL             string        `name:"nats-url" help:"Publish every event to NATS JetStream: nats://HOST:PORT or tls://, several separated by commas. Not published when not given." env:"MODERATO_NATS_URL" placeholder:"URL"`
	NATSCreds           string        `name:"nats-credentials" help:"A file of NATS credentials." env:"MODERATO_NATS_CREDENTIALS" placeholder:"FILE" type:"existingfile"`
	NATSStream          string        `name:"nats-stream" help:"The JetStream stream; it is made if it is not there." default:"MODERATO" env:"MODERATO_NATS_STREAM" placeholder:"NAME"`
	NATSSubject         string        `name:"nats-subject" help:"What subjects begin with: SUBJECT.CHANNEL.TYPE." default:"moderato.events" env:"MODERATO_NATS_SUBJECT" placeholder:"SUBJECT"`
	DrainDelay          time.Duration `help:"How long to go on answering after SIGTERM, while load balancers learn of it." default:"0s" env:"MODERATO_DRAIN_DELAY"`
	WebhookAllowPrivate bool          `help:"Let webhooks call private addresses, and http; for development." env:"MODERATO_WEBHOOK_ALLOW_PRIVATE"`
	LogLevel            string        `help:"The least level to log: debug, info, warn or error." enum:"debug,info,warn,error" default:"info" env:"MODERATO_LOG_LEVEL"`
	LogFormat           string        `help:"text, json, or auto: text on a terminal." enum:"auto,text,json" default:"auto" env:"MODERATO_LOG_FORMAT"`
	Demo                bool          `help:"Load the demo data and print how to use it." env:"MODERATO_DEMO"`
}

// retentionFlag is the flag of what serves and what checks.
type retentionFlag struct {
	Retention retention `name:"event-retention" help:"How long events, which are the log, are kept: TYPE=DURATION,…; default=DURATION is all types, 0 is for good. When not given 730d for moderation and 90d for the audience and streams." default:"" env:"MODERATO_EVENT_RETENTION" placeholder:"TYPE=DURATION"`
}

// retention is events.Retention as a flag.
type retention events.Retention

// UnmarshalText reads the flag.
func (r *retention) UnmarshalText(text []byte) error {
	parsed, err := events.ParseRetention(events.DefaultRetention(), string(text))
	if err != nil {
		return fmt.Errorf("the retention %w", err)
	}
	*r = retention(parsed)
	return nil
}

// Run serves until the process is told to stop.
func (c *serve) Run(ctx context.Context, s *streams) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // so that the second signal ends it at once
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		return fmt.Errorf("--log-level: %w", err)
	}
	log := newLog(s.err, level, c.LogFormat)
	if os.Getenv("GOGC") == "" {
		collectRarely()
	}
	srv, err := server.New(ctx, server.Config{
		DB:                  store.URL(c.DB),
		HTTPAddr:            string(c.HTTPAddr),
		GRPCAddr:            string(c.GRPCAddr),
		AdminAddr:           string(c.AdminAddr),
		RateLimit:           int(c.RateLimit),
		MaxWait:             c.MaxWait,
		Streams:             events.StreamLimits{PerUser: int(c.StreamsPerUser), PerToken: int(c.StreamsPerToken)},
		MaxListenerChannels: int(c.MaxListenerChannels),
		MaxResults:          int(c.MaxResults),
		Lifetimes:           c.Lifetimes(),
		Retention:           events.Retention(c.Retention),
		Bus:                 bus.Config{URL: c.NATSURL, Credentials: c.NATSCreds, Stream: c.NATSStream, Subject: c.NATSSubject},
		WebhookAllowPrivate: c.WebhookAllowPrivate,
		// Who reaches such a demo is on this host anyway. One that others reach would
		// let them reach what listens here for nobody else.
		WebhookAllowLoopback: c.Demo && c.HTTPAddr.isLoopback() && c.GRPCAddr.isLoopback(),
		CORSOrigins:          texts(c.CORSOrigins),
		DrainDelay:           c.DrainDelay,
		Log:                  log,
	})
	if err != nil {
		return err
	}
	log.InfoContext(ctx, "listening", "rest", srv.HTTPAddr, "grpc", srv.GRPCAddr, "admin", srv.AdminAddr,
		"db", store.URL(c.DB).String(), "version", buildVersion())
	if !c.Demo {
		return srv.Serve(ctx)
	}
	tokens, err := demo.Load(ctx, srv.Store)
	if err != nil {
		srv.Close()
		return fmt.Errorf("load the demo: %w", err)
	}
	demo.WriteTour(s.out, demo.Addresses{REST: srv.HTTPAddr, GRPC: srv.GRPCAddr, Admin: srv.AdminAddr}, tokens)
	return srv.Serve(ctx)
}

// listenAddr is host:port.
type listenAddr string

// UnmarshalText reads the flag.
func (a *listenAddr) UnmarshalText(text []byte) error {
	if _, _, err := net.SplitHostPort(string(text)); err != nil {
		return fmt.Errorf("%q must be HOST:PORT, such as 127.0.0.1:8080 or :8080", text)
	}
	*a = listenAddr(text)
	return nil
}

// isLoopback tells whether only this host reaches the address.
func (a listenAddr) isLoopback() bool {
	host, _, _ := net.SplitHostPort(string(a))
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && ip.Unmap().IsLoopback())
}

// origin is what a browser sends as Origin, or a pattern of it with one *.
type origin string

var originForm = regexp.MustCompile(`^(\*|[A-Za-z][A-Za-z0-9+.-]*://[^/?#@\s]+)$`)

// UnmarshalText reads the flag. Anything else would match no page, silently.
func (o *origin) UnmarshalText(text []byte) error {
	if !originForm.Match(text) {
		return fmt.Errorf("%q must be a scheme, a host and a port if it is not the scheme's, such as https://dash.example.com", text)
	}
	*o = origin(text)
	return nil
}

func texts(origins []origin) []string {
	var all []string
	for _, o := range origins {
		all = append(all, string(o))
	}
	return all
}

// requestRate is 0 or more.
type requestRate int

// UnmarshalText reads the flag.
func (r *requestRate) UnmarshalText(text []byte) error {
	return parseBounded(text, 0, (*int)(r))
}

// positive is 1 or more.
type positive int

// UnmarshalText reads the flag.
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
