// Package socketio serves events over Socket.IO. It holds the sessions of the clients that
// are connected to this server, and delivers the events of their subscriptions, which
// package subscriptions stores.
package socketio

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/internal/fair"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/hearing"
	"github.com/moderato-live/moderato/server/event/sessions"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// Path is the path at which clients connect, and the namespace of those that connect at
// DefaultPath.
const Path = "/ws"

// DefaultPath is the path of clients that do not choose one.
const DefaultPath = "/socket.io"

const (
	// maxStoreWait is how long a session waits for its turn to be stored or removed.
	maxStoreWait = 2 * time.Second
	// changedTimeout bounds the reading of a session that a call has changed. The session
	// reads it again by itself.
	changedTimeout = time.Second
	// SyncInterval is how often the server looks which of its sessions have new
	// subscriptions.
	SyncInterval = 200 * time.Millisecond
)

// Deliverer sends the events that a caller hears; watch.Service is one.
type Deliverer interface {
	// Open counts an event stream of a caller until closeStream is called. It returns an
	// error if a limit is reached.
	Open(caller *authn.Caller) (closeStream func(), err error)
	// Deliver sends the events from a place on until ctx ends or the delivery cannot
	// continue.
	Deliver(ctx context.Context, wish *hearing.Wish, place *watch.Place, send func(message any) error) error
}

// Server holds the sessions of this server.
type Server struct {
	sessions      sessions.Sessions
	watch         Deliverer
	authenticator *authn.Authenticator
	store         *store.Store
	log           *slog.Logger
	idle          *idleConns

	// ctx ends when the server stops.
	ctx  context.Context //nolint:containedctx // connections outlast the requests that open them
	stop context.CancelFunc

	conns sync.Map // by id

	mu     sync.Mutex
	active map[uid.ID]*session
	begun  sync.WaitGroup // the sessions that have not ended

	subscribed prometheus.Gauge
}

// New returns a Server.
func New(s *store.Store, w Deliverer, a *authn.Authenticator, log *slog.Logger, limits Limits, registry prometheus.Registerer) *Server {
	server := &Server{
		sessions: sessions.Sessions{Store: s, ServerID: uid.New()},
		watch:    w, authenticator: a, store: s, log: log,
		idle:       newIdleConns(limits),
		active:     map[uid.ID]*session{},
		subscribed: prometheus.NewGauge(prometheus.GaugeOpts{Name: "moderato_socketio_subscriptions", Help: "Subscriptions of the Socket.IO sessions of this server."}),
	}
	server.ctx, server.stop = context.WithCancel(context.Background())
	registry.MustRegister(server.subscribed, prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{Name: "moderato_socketio_sessions", Help: "Socket.IO sessions that are connected to this server."},
		func() float64 { return float64(len(server.list())) }))
	return server
}

var (
	errFull    = errors.New("too many connections without a subscription; subscribe, or close one")
	errTooFast = errors.New("too many new connections from your network; wait a second")
)

// admit adds a connection, which is idle until its session has a subscription. It refuses the
// connection if there are too many idle ones, or too many new ones.
func (s *Server) admit(c *conn) error {
	if s.ctx.Err() != nil {
		return errors.New("the server stops; connect again")
	}
	if err := s.idle.add(c); err != nil {
		return err
	}
	s.conns.Store(c.id, c)
	context.AfterFunc(c.ctx, func() {
		s.idle.set(c, false)
		s.conns.Delete(c.id)
	})
	return nil
}

// find returns the open connection with an id, nil if there is none.
func (s *Server) find(id string) *conn {
	found, _ := s.conns.Load(id)
	if c, ok := found.(*conn); ok && !c.isClosed() {
		return c
	}
	return nil
}

// welcome begins the session of a client that joined, and reports whether it did.
func (s *Server) welcome(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.isClosed() {
		return false
	}
	s.begun.Go(func() { s.run(c) })
	return true
}

// run runs the session of a client until its connection ends.
func (s *Server) run(c *conn) {
	ctx := inTurn(c.ctx)
	session := &session{
		server: s, id: uid.New(), conn: c, idleSince: time.Now(),
		running: map[uid.ID]*delivery{}, revoked: map[uid.ID]bool{},
	}
	if err := s.sessions.Add(ctx, session.id); err != nil {
		var overloaded *fair.OverloadedError
		if ctx.Err() == nil && !errors.As(err, &overloaded) {
			s.log.WarnContext(ctx, "a Socket.IO session could not be stored", "error", err)
		}
		c.close("")
		return
	}
	s.mu.Lock()
	s.active[session.id] = session
	s.mu.Unlock()
	session.welcome(ctx)
	<-ctx.Done()
	s.end(session)
}

// inTurn returns a context in which connections take turns with others. A client has no
// credentials when it connects, and the background work of the server must not wait behind it.
func inTurn(ctx context.Context) context.Context {
	return fair.NewContext(ctx, fair.Request{Owner: fair.Strangers, MaxWait: maxStoreWait})
}

// end removes a session whose connection has ended.
func (s *Server) end(session *session) {
	s.mu.Lock()
	delete(s.active, session.id)
	s.mu.Unlock()
	session.stopAll()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(inTurn(s.ctx)), 5*time.Second)
	defer cancel()
	if err := s.sessions.Remove(ctx, session.id); err != nil {
		s.log.WarnContext(ctx, "an ended Socket.IO session remains until it expires", "error", err)
	}
}

func (s *Server) list() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.active))
}

// Changed reads the subscriptions of a session again if the session is connected to this
// server. When it returns, the client hears the live events of a new one, unless that takes
// longer than changedTimeout.
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
	session.wait(ctx)
}

// Jobs returns the jobs that keep the sessions up to date.
func (s *Server) Jobs() []jobs.Job {
	return []jobs.Job{
		{Name: "follow event sessions", Interval: SyncInterval, Run: jobs.All(s.Sync)},
		{Name: "confirm event sessions", Interval: sessions.ConfirmInterval, Run: jobs.All(s.Confirm)},
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
			session.conn.close(disconnectPacket + session.conn.namespace) // the client does not connect again
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
		byID[id].conn.close("")
	}
	return err
}

// Close closes all connections, and waits until the sessions have ended. The clients
// connect again by themselves, to another server.
func (s *Server) Close() {
	s.mu.Lock()
	s.stop()
	s.mu.Unlock()
	s.begun.Wait()
}
