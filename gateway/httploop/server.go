// Package httploop serves short reads over HTTP/1.1 at less cost than net/http's server, and
// leaves everything else to it.
//
// Net/http's server wakes a goroutine for each request to learn that the client has
// disconnected, and prepares for responses of any kind. A read that takes a fraction of a
// millisecond pays as much for this as for its own work. The loop of this package serves
// requests whose form is the common one: a GET request of a known path, without a body, whose
// header section arrives at once. Net/http parses them, too. The first request of another
// form, together with its connection, is handed over to net/http's server.
package httploop

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// Server is an HTTP server. Its fields besides Reads are those of net/http, and mean the same.
type Server struct {
	*http.Server

	// Reads has the paths of GET requests that are short reads.
	Reads map[string]bool

	isClosing atomic.Bool
	mu        sync.Mutex
	conns     map[*conn]struct{} // those of the loop
	serving   sync.WaitGroup     // waits until conns is empty
}

// Serve serves the connections of a listener until the server is shut down.
func (s *Server) Serve(l net.Listener) error {
	h := &handover{Listener: l, accepted: make(chan accepted), closed: make(chan struct{})}
	go s.accept(h)
	return s.Server.Serve(h)
}

// Shutdown stops the server. It closes connections without a request, and waits for the
// requests that are being served until ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	s.closeIdle()
	err := s.Server.Shutdown(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.serving.Wait()
	}()
	select {
	case <-ended:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// accept serves the connections that a listener accepts. Net/http's server receives the
// errors, and waits if they are temporary.
func (s *Server) accept(h *handover) {
	for {
		netConn, err := h.Listener.Accept()
		if err != nil {
			if !h.pass(accepted{err: err}) {
				return
			}
			continue
		}
		c := &conn{Conn: netConn, server: s, handover: h}
		if !s.add(c) {
			_ = netConn.Close()
			continue
		}
		go c.serve()
	}
}

// add adds a connection, unless the server is closing.
func (s *Server) add(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isClosing.Load() {
		return false
	}
	if s.conns == nil {
		s.conns = map[*conn]struct{}{}
	}
	s.conns[c] = struct{}{}
	s.serving.Add(1)
	return true
}

// remove removes a connection, which is closed or belongs to net/http's server now.
func (s *Server) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	s.serving.Done()
}

func (s *Server) closeIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isClosing.Store(true)
	for c := range s.conns {
		if !c.isBusy.Load() {
			_ = c.Close()
		}
	}
}

// handover is the listener of net/http's server. It accepts the connections that the loop
// hands over.
type handover struct {
	net.Listener

	accepted  chan accepted
	closed    chan struct{}
	closeOnce sync.Once
}

type accepted struct {
	conn net.Conn
	err  error
}

// Accept waits for a connection that is handed over.
func (h *handover) Accept() (net.Conn, error) {
	select {
	case a := <-h.accepted:
		return a.conn, a.err
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// pass hands over a connection or an error. It reports false if the listener is closed.
func (h *handover) pass(a accepted) bool {
	select {
	case h.accepted <- a:
		return true
	case <-h.closed:
		return false
	}
}

// Close closes the listener.
func (h *handover) Close() error {
	h.closeOnce.Do(func() { close(h.closed) })
	return h.Listener.Close()
}
