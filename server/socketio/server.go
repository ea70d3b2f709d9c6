// Package socketio serves events over Socket.IO. It holds the sessions of the clients that
// are connected to this server, and delivers the events of their subscriptions, which
// package subscriptions stores.
package socketio

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/zishang520/socket.io/servers/engine/v3"
	"github.com/zishang520/socket.io/servers/socket/v3"
	"github.com/zishang520/socket.io/v3/pkg/types"

	"github.com/moderato-live/moderato/server/authn"
	"github.com/moderato-live/moderato/server/fair"
	"github.com/moderato-live/moderato/server/hearing"
	"github.com/moderato-live/moderato/server/jobs"
	"github.com/moderato-live/moderato/server/peer"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/subscriptions"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/watch"
)

// Path is the path at which clients connect.
const Path = "/ws"

const (
	// maxMessage is how many bytes a client may send in one message. Clients have nothing
	// to say but that they are alive.
	maxMessage = 16 << 10
	// joinTimeout is how long a connection may take until it is a session.
	joinTimeout = 10 * time.Second
	// maxStoreWait is how long a session waits for its turn to be stored or removed.
	maxStoreWait = 2 * time.Second
	// changedTimeout bounds the reading of a session that a call has changed. The session
	// reads it again by itself.
	changedTimeout = time.Second
	// SyncInterval is how often the server looks which of its sessions have new
	// subscriptions.
	SyncInterval = 200 * time.Millisecond
)

// Defaults of Limits.
const (
	DefaultIdlePerAddress = 100
	DefaultIdle           = 10_000
	DefaultIdleTime       = time.Minute
)

// Limits bounds the connections without a subscription.
type Limits struct {
	// IdlePerAddress is the limit for an IP address; 0 is DefaultIdlePerAddress.
	IdlePerAddress int
	// Idle is the limit for the server; 0 is DefaultIdle.
	Idle int
	// IdleTime is how long a session may have no subscription; 0 is DefaultIdleTime.
	IdleTime time.Duration
}

// Deliverer sends the events that a caller hears; watch.Service is one.
type Deliverer interface {
	// Deliver sends the events from a place on until ctx ends or the delivery cannot
	// continue.
	Deliver(ctx context.Context, wish *hearing.Wish, place *watch.Place, send func(message any) error) error
}

// Server holds the sessions of this server.
type Server struct {
	sessions      subscriptions.Sessions
	watch         Deliverer
	authenticator *authn.Authenticator
	store         *store.Store
	log           *slog.Logger
	idle          *idleCounts
	openings      *openings
	io            *socket.Server
	handler       http.Handler

	// ctx ends when the server stops.
	ctx  context.Context //nolint:containedctx // sessions begin in callbacks that have none
	stop context.CancelFunc

	mu       sync.Mutex
	active   map[uid.ID]*session
	isClosed bool
	begun    sync.WaitGroup // the sessions that have not ended

	subscribed prometheus.Gauge
}

// New returns a Server.
func New(s *store.Store, w Deliverer, a *authn.Authenticator, log *slog.Logger, limits Limits, registry prometheus.Registerer) *Server {
	server := &Server{
		sessions: subscriptions.Sessions{Store: s, ServerID: uid.New()},
		watch:    w, authenticator: a, store: s, log: log,
		idle:       newIdleCounts(limits),
		openings:   newOpenings(),
		active:     map[uid.ID]*session{},
		subscribed: prometheus.NewGauge(prometheus.GaugeOpts{Name: "moderato_socketio_subscriptions", Help: "Subscriptions of the Socket.IO sessions of this server."}),
	}
	server.ctx, server.stop = context.WithCancel(context.Background())
	registry.MustRegister(server.subscribed, prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{Name: "moderato_socketio_sessions", Help: "Socket.IO sessions that are connected to this server."},
		func() float64 { return float64(len(server.list())) }))
	options := socket.DefaultServerOptions()
	options.SetPath(Path)
	options.SetServeClient(false)
	options.SetTransports(types.NewSet(socket.Polling, socket.WebSocket))
	options.SetConnectTimeout(joinTimeout)
	options.SetMaxHttpBufferSize(maxMessage)
	options.SetAllowRequest(server.admit)
	server.io = socket.NewServer(nil, options)
	library := server.io.ServeHandler(options)
	server.handler = server.openings.handle(server.serveRequests(library))
	_ = server.io.Engine().On("connection", func(args ...any) { server.track(args[0].(engine.Socket)) })
	_ = server.io.On("connection", func(args ...any) { server.welcome(args[0].(*socket.Socket)) })
	return server
}

// ServeHTTP serves the requests of clients at Path.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

var (
	errFull    = errors.New("too many connections without a subscription; subscribe, or close one")
	errTooFast = errors.New("too many new connections from your network; wait a second")
)

// admit refuses a connection if there are too many without a subscription, or too many new
// ones.
func (s *Server) admit(ctx *types.HttpContext) error {
	if s.ctx.Err() != nil {
		return errors.New("the server stops; connect again")
	}
	address := peer.Address(ctx.Request())
	switch {
	case !s.idle.hasRoom(address):
		return errFull
	case !s.idle.mayConnect(address):
		return errTooFast
	}
	return nil
}

// track counts a connection as idle until its session has a subscription.
func (s *Server) track(conn engine.Socket) {
	s.openings.add(conn.Id(), conn.Request().Request())
	_ = conn.Once("close", func(...any) { s.openings.remove(conn.Id()) })
	address := peer.Address(conn.Request().Request())
	if !s.idle.add(conn.Id(), address) {
		conn.Close(true)
		return
	}
	_ = conn.Once("close", func(...any) { s.idle.remove(conn.Id()) })
	if conn.ReadyState() == "closed" {
		// The client was gone before anybody listened for its end, not even the library.
		s.idle.remove(conn.Id())
		s.openings.remove(conn.Id())
		s.io.Engine().Clients().Delete(conn.Id())
	}
}

// welcome begins a session for a client that joined. It closes a connection that has a
// session: the limits count connections, and the library lets a client join several times
// if it does so at the same moment.
func (s *Server) welcome(client *socket.Socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isClosed || !s.openings.join(client.Conn().Id()) {
		client.Conn().Close(true)
		return
	}
	s.begun.Go(func() { s.run(client) })
}

// run runs the session of a client until the client is gone or the server stops.
func (s *Server) run(client *socket.Socket) {
	ctx, cancel := context.WithCancel(inTurn(s.ctx, client))
	_ = client.Once("disconnect", func(...any) { cancel() })
	if !client.Connected() || client.Conn().ReadyState() == "closed" { // it was gone before
		cancel()
	}
	session := &session{
		server: s, id: uid.New(), client: client, idleSince: time.Now(),
		running: map[uid.ID]*delivery{}, revoked: map[uid.ID]bool{}, slots: make(chan struct{}, maxUnsent),
	}
	if err := s.sessions.Add(ctx, session.id); err != nil {
		var overloaded *fair.OverloadedError
		if ctx.Err() == nil && !errors.As(err, &overloaded) {
			s.log.WarnContext(ctx, "a Socket.IO session could not be stored", "error", err)
		}
		session.hangUp()
		cancel()
		return
	}
	s.mu.Lock()
	s.active[session.id] = session
	s.mu.Unlock()
	session.send(ctx, welcome(session.id, s.store.Clock.Local()))
	<-ctx.Done()
	s.end(session)
}

// inTurn returns a context in which the connections of an address take turns with others. A
// client has no credentials when it connects, and the background work of the server must not
// wait behind its connections.
func inTurn(ctx context.Context, client *socket.Socket) context.Context {
	address := peer.Address(client.Conn().Request().Request())
	return fair.NewContext(ctx, fair.Request{Owner: fair.Owner{Client: address}, MaxWait: maxStoreWait})
}

// end removes a session whose client is gone, or which the server closed.
func (s *Server) end(session *session) {
	s.mu.Lock()
	delete(s.active, session.id)
	s.mu.Unlock()
	session.stopAll()
	session.hangUp()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(inTurn(s.ctx, session.client)), 5*time.Second)
	defer cancel()
	if err := s.sessions.Remove(ctx, session.id); err != nil {
		s.log.WarnContext(ctx, "an ended Socket.IO session remains until it expires", "error", err)
	}
}

func (s *Server) list() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*session, 0, len(s.active))
	for _, session := range s.active {
		all = append(all, session)
	}
	return all
}

// Changed reads the subscriptions of a session again if the session is connected to this
// server.
func (s *Server) Changed(id uid.ID) {
	s.mu.Lock()
	session := s.active[id]
	s.mu.Unlock()
	if session == nil {
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, changedTimeout)
	defer cancel()
	if err := session.sync(ctx); err != nil && s.ctx.Err() == nil {
		s.log.Warn("the subscriptions of a Socket.IO session could not be read; trying again", "error", err)
	}
}

// Jobs returns the jobs that keep the sessions up to date.
func (s *Server) Jobs() []jobs.Job {
	return []jobs.Job{
		{Name: "follow event sessions", Interval: SyncInterval, Run: jobs.All(s.Sync)},
		{Name: "confirm event sessions", Interval: subscriptions.ConfirmInterval, Run: jobs.All(s.Confirm)},
	}
}

// Sync reads the subscriptions that other servers changed, and closes the sessions that
// have had none for too long.
func (s *Server) Sync(ctx context.Context) error {
	sessions := s.list()
	if len(sessions) == 0 {
		return nil
	}
	for _, session := range sessions {
		if session.isIdle() {
			session.client.Disconnect(true)
		}
	}
	changed, err := s.sessions.Changed(ctx)
	if err != nil {
		return err
	}
	for _, id := range changed {
		s.mu.Lock()
		session := s.active[id]
		s.mu.Unlock()
		if session == nil {
			continue // it is beginning or ending
		}
		err = errors.Join(err, session.sync(ctx))
	}
	return err
}

// Confirm records that the sessions are connected, and closes those that another server
// removed meanwhile because this one seemed to have crashed.
func (s *Server) Confirm(ctx context.Context) error {
	sessions := s.list()
	if len(sessions) == 0 {
		return nil
	}
	ids := make([]uid.ID, len(sessions))
	byID := map[uid.ID]*session{}
	for i, session := range sessions {
		ids[i], byID[session.id] = session.id, session
	}
	gone, err := s.sessions.Confirm(ctx, ids)
	for _, id := range gone {
		byID[id].hangUp()
	}
	return err
}

// Close closes all connections, and waits until the sessions have ended. The clients
// connect again by themselves, to another server.
func (s *Server) Close() {
	s.mu.Lock()
	s.isClosed = true
	s.mu.Unlock()
	s.stop()
	s.io.Engine().Close()
	s.begun.Wait()
}
