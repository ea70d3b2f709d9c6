package server

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// newClosedConnections returns the counter of connections that were closed because there were
// too many, and registers it.
func newClosedConnections(registry prometheus.Registerer) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "moderato_connections_closed_total",
		Help: "Connections that were closed because there were too many: the longest idle one, or, if none was idle, the new one.",
	}, []string{"transport"})
	registry.MustRegister(c)
	for _, transport := range []string{"rest", "grpc"} {
		c.WithLabelValues(transport) // begins at 0
	}
	return c
}

// boundedListener is a listener with at most limit open connections; 0 means any number. Beyond
// the limit it closes the connection that has been idle longest, and the new one if none is. It
// knows of no idle connections unless tracksIdle is set: see trackIdle.
type boundedListener struct {
	net.Listener

	limit      int
	tracksIdle bool
	closed     prometheus.Counter

	mu   sync.Mutex
	open int
	idle list.List // of *boundedConn, the longest idle first
}

// Accept waits for a connection.
func (l *boundedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		conn := &boundedConn{Conn: c, listener: l}
		evicted, ok := l.add(conn)
		if evicted != nil {
			_ = evicted.Close()
		}
		if ok {
			return conn, nil
		}
		l.closed.Inc()
		_ = c.Close()
	}
}

// add counts a connection, which is idle at first. It returns the connection to close for it,
// and reports whether there is room.
func (l *boundedListener) add(conn *boundedConn) (evicted *boundedConn, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.limit > 0 && l.open >= l.limit {
		longest := l.idle.Front()
		if longest == nil {
			return nil, false
		}
		evicted = longest.Value.(*boundedConn)
		l.remove(evicted)
		l.closed.Inc()
	}
	l.open++
	l.setIdle(conn, l.tracksIdle)
	return evicted, true
}

// remove stops counting a connection. The caller holds mu.
func (l *boundedListener) remove(c *boundedConn) {
	if c.isClosed {
		return
	}
	c.isClosed = true
	l.open--
	l.setIdle(c, false)
}

// setIdle adds a connection to those that are idle, or removes it. The caller holds mu.
func (l *boundedListener) setIdle(c *boundedConn, isIdle bool) {
	if c.idle != nil {
		l.idle.Remove(c.idle)
		c.idle = nil
	}
	if isIdle && !c.isClosed {
		c.idle = l.idle.PushBack(c)
	}
}

// boundedConn is a connection of a boundedListener.
type boundedConn struct {
	net.Conn

	listener *boundedListener
	// The rest is guarded by the listener's mu.
	requests int           // that are being handled
	idle     *list.Element // nil while it is not idle
	isClosed bool
}

// Close closes the connection.
func (c *boundedConn) Close() error {
	c.listener.mu.Lock()
	c.listener.remove(c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite closes the sending half of the connection. net/http does so after a refusal, so that a
// client that still sends can read it.
func (c *boundedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// count changes the number of requests that are being handled.
func (c *boundedConn) count(n int) {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.requests += n
	c.listener.setIdle(c, c.requests == 0)
}

type boundedConnKey struct{}

// boundedConnOf returns the connection of a listener; nil if it is not a bounded one.
func boundedConnOf(c net.Conn) *boundedConn {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
		c = t.NetConn()
	}
	conn, _ := c.(*boundedConn)
	return conn
}

// trackIdle makes an HTTP server tell its bounded connections when they are idle: while no
// request is being handled. A connection that became a WebSocket is not idle; it has limits of
// its own.
func trackIdle(h *http.Server) {
	next := h.Handler
	h.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, boundedConnKey{}, boundedConnOf(c))
	}
	h.ConnState = func(c net.Conn, state http.ConnState) {
		if conn := boundedConnOf(c); conn != nil && state == http.StateHijacked {
			conn.count(1)
		}
	}
	h.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if conn, _ := r.Context().Value(boundedConnKey{}).(*boundedConn); conn != nil {
			conn.count(1)
			defer conn.count(-1)
		}
		next.ServeHTTP(w, r)
	})
}
