// Package server runs Moderato: the gRPC core, its REST facade and its admin address in
// one process.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"

	"github.com/moderato-live/moderato/console"
	"github.com/moderato-live/moderato/docs/openapi"
	"github.com/moderato-live/moderato/docs/site"
	"github.com/moderato-live/moderato/gateway"
	"github.com/moderato-live/moderato/gateway/assets"
	"github.com/moderato-live/moderato/gateway/signin"
	"github.com/moderato-live/moderato/internal/fair"
	"github.com/moderato-live/moderato/internal/logging"
	"github.com/moderato-live/moderato/internal/peer"
	"github.com/moderato-live/moderato/internal/tracing"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/domain/access"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/domains"
	"github.com/moderato-live/moderato/server/domain/importer"
	"github.com/moderato-live/moderato/server/domain/oauth"
	"github.com/moderato-live/moderato/server/downloads"
	"github.com/moderato-live/moderato/server/event/bus"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/event/sessions"
	"github.com/moderato-live/moderato/server/event/socketio"
	"github.com/moderato-live/moderato/server/event/standings"
	"github.com/moderato-live/moderato/server/event/tickets"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/event/webhooks"
	"github.com/moderato-live/moderato/server/middleware"
	"github.com/moderato-live/moderato/server/middleware/inprocess"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
	"github.com/moderato-live/moderato/server/store/pictures"
)

const (
	// DrainTimeout is how long calls in progress may take to end after a drain delay.
	DrainTimeout   = 20 * time.Second
	healthInterval = 2 * time.Second
	// maxConcurrentReads is the maximum number of concurrent read-only calls: enough to keep
	// the database busy, and few enough that further calls wait in the fair queue.
	maxConcurrentReads = 256
)

// DemoHealthService is the name of a service that gRPC's health service reports only on a
// demo. A client that is for demos alone checks it first.
const DemoHealthService = "moderato.demo"

// Server is a server that listens. It handles requests once Serve is called.
type Server struct {
	// Store is the database of the server.
	Store *store.Store
	// Docs is the documentation at /docs.
	Docs *site.Site
	// HTTPAddr, GRPCAddr and AdminAddr are the addresses on which the server listens.
	HTTPAddr, GRPCAddr, AdminAddr string

	config    Config
	stopping  atomic.Bool   // told to stop: readiness checks fail, for load balancers
	draining  atomic.Bool   // rejects new calls
	ending    chan struct{} // closed when draining: streams end
	health    *health.Server
	grpc      *grpc.Server
	http      *http.Server
	admin     *http.Server
	listeners [3]net.Listener
	workers   []func(context.Context)
	jobs      *jobs.Runner
	sockets   *socketio.Server
	tracer    *tracing.Tracer
	outages   *logging.Outages
	closed    *prometheus.CounterVec // connections, because there were too many
}

// New listens and opens the database. It migrates an embedded database; the schema of any
// other database must not be older than this program's.
func New(ctx context.Context, config Config) (_ *Server, err error) {
	if err := config.complete(ctx); err != nil {
		return nil, err
	}
	log := config.Log.Handler()
	outages := logging.NewOutages(log, store.IsFailure)
	config.Log = slog.New(outages.Handler(log))
	s := &Server{config: config, health: health.NewServer(), ending: make(chan struct{}), outages: outages}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	// First, so that a port in use is reported before a migration begins.
	if err = s.listen(ctx); err != nil {
		return nil, err
	}
	registry := newRegistry()
	s.closed = newClosedConnections(registry)
	if s.tracer, err = tracing.New(ctx, config.Tracing, config.Log, registry); err != nil {
		return nil, err
	}
	if s.Store, err = openStore(ctx, config, s.tracer); err != nil {
		return nil, err
	}
	s.Store.Register(registry)
	if s.config.consoleSignsIn() {
		if err = access.PutConsole(ctx, s.Store); err != nil {
			return nil, fmt.Errorf("client of the console: %w", err)
		}
	}
	return s, s.assemble(registry)
}

func openStore(ctx context.Context, config Config, tracer *tracing.Tracer) (*store.Store, error) {
	if config.DB.Path != "" {
		if err := store.Migrate(ctx, config.DB, config.Log); err != nil {
			return nil, err
		}
	}
	s, err := store.OpenWith(ctx, config.DB, store.Options{
		Layer: config.DBLayer, Tracer: tracer, Log: config.Log,
	})
	if err != nil {
		return nil, err
	}
	if err = s.CheckVersion(ctx); err == nil {
		err = s.CheckServer(ctx)
	}
	if err != nil {
		s.Close()
		if errors.Is(err, store.ErrVersion) {
			return nil, fmt.Errorf("%w; run: moderato migrate --db %s (with the account in the URL)", err, config.DB)
		}
		return nil, err
	}
	return s, nil
}

// assemble creates the services and the background jobs, and serves both transports
// through one chain.
func (s *Server) assemble(registry *prometheus.Registry) error {
	s.Store.Pictures = pictures.New(s.defaultAvatar())
	authenticator := authn.NewAuthenticator(s.Store)
	ticketing := &tickets.Service{Store: s.Store, Authenticator: authenticator}
	links := &middleware.Chain{
		Authenticator: authenticator,
		Tickets:       ticketing,
		Limiter:       middleware.NewLimiter(s.config.RateLimit, func() time.Time { return s.Store.Clock.Local().Time() }),
		Metrics:       middleware.NewMetrics(registry),
		Log:           s.config.Log,
		Draining:      s.draining.Load,
		Reads:         fair.NewGate(maxConcurrentReads),
		MaxWait:       s.config.MaxWait,
		Idempotency:   idempotency.New(s.Store),
		Pictures:      s.Store.Pictures,
	}
	hub := watch.NewHub(s.Store, s.config.Log)
	messages := live.NewHub(s.Store, s.config.Log, registry, chat.Visible)
	hub.Deleted = messages.Deleted
	rights := &watch.Rights{Store: s.Store, Log: s.config.Log, MaxChannels: s.config.MaxListenerChannels}
	sequencer := outbox.NewSequencer(s.Store, s.config.Log, registry)
	sequencer.Sequenced, sequencer.HasListeners = hub.Wake, hub.HasListeners
	if s.config.ChatOverNATS {
		messages.UseNATS(s.config.Bus, s.config.ChatSubject, sequencer.Wake, registry)
		sequencer.Elsewhere = messages.TellWritten
	}
	hooks := webhooks.NewEngine(s.Store, hub, s.config.Log, registry, webhooks.Options{
		Reach: s.config.webhookReach(), Timeout: s.config.WebhookTimeout, MaxAttempts: s.config.WebhookAttempts,
		Visible: chat.Visible,
	})
	messages.Posted = hooks.Posted
	watching := &watch.Service{
		Hub: hub, Live: messages, Rights: rights, Limits: s.config.Streams, Stopping: s.ending, Heartbeat: watch.HeartbeatInterval,
	}
	s.sockets = socketio.New(s.Store, watching, authenticator, s.config.Log, s.config.Sockets, registry)
	implementations := services{
		Services: domains.NewServices(s.Store, domains.Options{Lists: paging.NewLists(s.config.MaxResults), Lifetimes: s.config.Lifetimes, SweepWait: s.config.SweepWait, Live: messages, ChatRate: s.config.ChatRate}),
		importer: &importer.Service{Store: s.Store},
		tickets:  ticketing,
		oauth:    &oauth.Service{Store: s.Store, Lifetimes: s.config.Lifetimes, Log: s.config.Log},
		watch:    watching,

		standings: standings.New(s.Store, watching, s.config.Log, registry),

		subscriptions: &sessions.Service{Store: s.Store, Limits: s.config.Streams, Changed: s.sockets.Changed},

		webhooks: &webhooks.Service{Store: s.Store, Engine: hooks, Reach: s.config.webhookReach()},
	}
	secured, err := s.loadCertificates(registry)
	if err != nil {
		return err
	}
	s.grpc = newGRPCServer(links, implementations, s.health, secured.grpc, s.tracer.GRPC())
	if err := authz.CheckComplete(s.grpc.GetServiceInfo()); err != nil {
		return err
	}
	conn := inprocess.New(links.Unary, links.Stream)
	implementations.registerPublic(conn)
	signIn := signin.Endpoints(signin.Options{
		Service: implementations.oauth, LoginURL: s.config.LoginURL, PublicURL: s.config.PublicURL, ConsolePath: console.Path, DemoUsers: s.config.DemoUsers,
		RateLimit: s.config.RateLimit, MaxWait: s.config.MaxWait, Draining: s.draining.Load, Observe: links.Metrics.Observe, Log: s.config.Log,
	})
	s.Docs = site.New(openapi.JSON, s.config.PublicURL, s.config.Log)
	page, err := s.console()
	if err != nil {
		return fmt.Errorf("console: %w", err)
	}
	facade, err := gateway.New(conn, gateway.Options{
		CORSOrigins: s.config.CORSOrigins, Log: s.config.Log, Registerer: registry,
		Endpoints:   slices.Concat(signIn, documents(s.config.PublicURL), assets.Endpoints(), downloads.Endpoints()),
		SocketPaths: []string{socketio.Path, socketio.DefaultPath}, Socket: socketio.FromOrigins(s.config.CORSOrigins, s.sockets),
		Pages: []gateway.Pages{s.Docs, page},
	})
	if err != nil {
		return fmt.Errorf("REST facade: %w", err)
	}
	facade = s.tracer.REST(facade, gateway.Calls())
	if s.config.HTTPLayer != nil {
		facade = s.config.HTTPLayer(facade)
	}
	s.http = newHTTPServer(peer.Behind(s.config.TrustedProxies, s.config.Log, facade))
	trackIdle(s.http)
	s.http.ErrorLog = newErrorLog(s.config.Log)
	s.http.Protocols.SetUnencryptedHTTP2(s.config.HTTPH2C)
	secured.secureHTTP(s.http)
	s.workers = append(s.workers, messages.Run, hooks.Run, implementations.Filter.Run)
	s.jobs = jobs.NewRunner(s.Store, s.config.Log, registry)
	registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "moderato_event_streams", Help: "Event streams that are open on this server, over gRPC and Server-Sent Events.",
	}, func() float64 { return float64(watching.OpenStreams()) }))
	s.admin = &http.Server{Handler: adminHandler(registry, s.tracer != nil, s.sources(registry, sequencer)), ReadHeaderTimeout: 5 * time.Second}
	all := slices.Concat(
		domains.Jobs(tables.Env{Store: s.Store, Log: s.config.Log, Retention: s.config.Retention, MessageRetention: s.config.MessageRetention, Webhooks: hooks, IsElsewhere: sequencer.IsElsewhere}),
		rights.Jobs(), implementations.standings.Jobs(), messages.Jobs(), implementations.Jobs(), s.sockets.Jobs(), secured.jobs(), hooks.Jobs(),
		[]jobs.Job{hub.Job(), sequencer.Job(), {Name: "watch the database", Interval: healthInterval, Run: jobs.All(s.reportHealth)}},
	)
	if s.config.Bus.Publishes() {
		sink := bus.NewSink(s.Store, s.config.Log, s.config.Bus, registry)
		sequencer.Sequenced = func() { hub.Wake(); sink.Wake() }
		all = append(all, sink.Job())
	}
	s.workers = append(s.workers, func(ctx context.Context) { s.jobs.Run(ctx, all...) })
	return nil
}

func (s *Server) listen(ctx context.Context) error {
	var listen net.ListenConfig
	for i, addr := range []struct {
		flag, want string
		got        *string
	}{
		{"--http-addr", s.config.HTTPAddr, &s.HTTPAddr},
		{"--grpc-addr", s.config.GRPCAddr, &s.GRPCAddr},
		{"--admin-addr", s.config.AdminAddr, &s.AdminAddr},
	} {
		l, err := listen.Listen(ctx, "tcp", addr.want)
		if err != nil {
			return fmt.Errorf("%s %s: %w; choose another address with %s", addr.flag, addr.want, err, addr.flag)
		}
		s.listeners[i], *addr.got = l, l.Addr().String()
	}
	return nil
}

// Serve handles requests until ctx ends, then drains: it reports to load balancers that
// it is not ready, lets the calls in progress end, and closes the server. It returns an
// error if serving fails earlier.
func (s *Server) Serve(ctx context.Context) error {
	defer s.config.Log.InfoContext(context.WithoutCancel(ctx), "stopped")
	defer s.Close()
	var workers sync.WaitGroup
	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	for _, run := range s.workers {
		workers.Go(func() { run(work) })
	}
	defer workers.Wait()
	defer stopWork()

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return ignoreClosed(serveHTTP(s.http, s.bounded(0))) })
	group.Go(func() error { return ignoreClosed(s.grpc.Serve(closableListener{s.bounded(1)})) })
	group.Go(func() error { return ignoreClosed(s.admin.Serve(s.listeners[2])) })
	group.Go(func() error {
		<-ctx.Done()
		s.drain(context.WithoutCancel(ctx))
		return nil
	})
	if err := group.Wait(); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// bounded returns a listener with a bound of its connections.
func (s *Server) bounded(i int) net.Listener {
	transport, limit := "rest", s.config.HTTPConnections
	if i > 0 {
		transport, limit = "grpc", s.config.GRPCConnections
	}
	return &boundedListener{Listener: s.listeners[i], limit: limit, tracksIdle: i == 0, closed: s.closed.WithLabelValues(transport)}
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, grpc.ErrServerStopped) {
		return nil
	}
	return err
}

func (s *Server) drain(ctx context.Context) {
	s.stopping.Store(true)
	s.health.Shutdown()
	s.config.Log.InfoContext(ctx, "stopping: no longer ready", "drain_delay", s.config.DrainDelay.String())
	time.Sleep(s.config.DrainDelay)
	s.draining.Store(true)
	close(s.ending)
	s.sockets.Close()
	s.config.Log.InfoContext(ctx, "draining: calls under way may end, new ones are refused")
	ctx, cancel := context.WithTimeout(ctx, DrainTimeout)
	defer cancel()
	var transports sync.WaitGroup
	transports.Go(func() { _ = s.http.Shutdown(ctx) })
	transports.Go(func() { s.stopGRPC(ctx) })
	transports.Wait()
	_ = s.admin.Shutdown(ctx)
}

func (s *Server) stopGRPC(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.grpc.GracefulStop()
	}()
	select {
	case <-done:
	case <-ctx.Done():
		s.grpc.Stop()
	}
}

// Close closes a server on which Serve was not called.
func (s *Server) Close() {
	for _, l := range s.listeners {
		if l != nil {
			_ = l.Close()
		}
	}
	if s.Store != nil {
		s.Store.Close()
	}
	s.tracer.Close()
}
