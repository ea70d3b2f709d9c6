package socketio

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// The library sends the first packet of a connection before it listens to the packets of the
// client. A packet that the client sends in between, usually that with which it joins, would
// be lost. So a connection is opening until the library listens: nothing is read from its
// WebSocket, and the client's other requests wait.

// openingTimeout bounds how long a request waits for a connection that is opening.
const openingTimeout = time.Second

type openingKey struct{}

// openings holds the connections to which the library listens.
type openings struct {
	mu      sync.Mutex
	open    map[string]bool // whether a client has joined, by the id of the connection
	changed chan struct{}   // closed and replaced when one is added
}

func newOpenings() *openings {
	return &openings{open: map[string]bool{}, changed: make(chan struct{})}
}

// add records that the library listens to a connection. r is the request that opened it.
func (o *openings) add(id string, r *http.Request) {
	o.mu.Lock()
	o.open[id] = false
	close(o.changed)
	o.changed = make(chan struct{})
	o.mu.Unlock()
	if opened, ok := r.Context().Value(openingKey{}).(chan struct{}); ok {
		close(opened)
	}
}

// remove forgets a connection that is closed.
func (o *openings) remove(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.open, id)
}

// join records that the client of a connection joins, and reports whether it may: a
// connection that is open may join once.
func (o *openings) join(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	hasJoined, isOpen := o.open[id]
	if !isOpen || hasJoined {
		return false
	}
	o.open[id] = true
	return true
}

// wait waits until the library listens to a connection. An unknown one is none that is
// opening, or takes too long: the library refuses its request.
func (o *openings) wait(ctx context.Context, id string) {
	timeout := time.NewTimer(openingTimeout)
	defer timeout.Stop()
	for {
		o.mu.Lock()
		_, isOpen := o.open[id]
		changed := o.changed
		o.mu.Unlock()
		if isOpen {
			return
		}
		select {
		case <-changed:
		case <-timeout.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// handle returns a handler whose requests wait for their connection.
func (o *openings) handle(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id := r.URL.Query().Get("sid"); id != "" {
			o.wait(r.Context(), id)
			next.ServeHTTP(w, r)
			return
		}
		opened := make(chan struct{})
		r = r.WithContext(context.WithValue(r.Context(), openingKey{}, opened))
		next.ServeHTTP(&openingWriter{ResponseWriter: w, opened: opened}, r)
	})
}

// openingWriter is a response writer whose hijacked connection reads nothing before the
// library listens.
type openingWriter struct {
	http.ResponseWriter

	opened <-chan struct{}
}

// Unwrap returns the writer for http.ResponseController.
func (w *openingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush implements http.Flusher.
func (w *openingWriter) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// Hijack implements http.Hijacker.
func (w *openingWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	opening := &openingConn{Conn: conn, opened: w.opened, closed: make(chan struct{})}
	return opening, bufio.NewReadWriter(bufio.NewReader(opening), buffered.Writer), nil
}

// openingConn is a connection whose reads wait until it is opened or closed.
type openingConn struct {
	net.Conn

	opened <-chan struct{}
	once   sync.Once
	closed chan struct{}
}

func (c *openingConn) Read(b []byte) (int, error) {
	select {
	case <-c.opened:
		return c.Conn.Read(b)
	case <-c.closed:
		return 0, net.ErrClosed
	}
}

// Close closes the connection.
func (c *openingConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
