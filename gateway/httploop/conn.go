package httploop

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// maxHeaderSection is the size in bytes of the largest header section that the loop serves.
const maxHeaderSection = 4 << 10

// disconnectDelay is how long a request is served before the loop watches whether its client
// has disconnected. Most requests end earlier.
const disconnectDelay = 20 * time.Millisecond

// conn is a connection of the loop.
type conn struct {
	net.Conn

	server   *Server
	handover *handover
	reader   *bufio.Reader
	// isBusy is true while a request is served.
	isBusy atomic.Bool
	// remote is the address of the client.
	remote string
	// cancel ends the context of the request that is being served.
	cancel context.CancelFunc
	// timer starts watch, which sends to watched when it ends. It does not wait for the client
	// if the request isServed, which watching guards.
	timer    *time.Timer
	watched  chan struct{}
	watching sync.Mutex
	isServed bool
}

// readers are the readers of connections, and parsers those of header sections.
var (
	readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, maxHeaderSection) }}
	parsers = sync.Pool{New: func() any { return &parser{buffered: bufio.NewReaderSize(nil, maxHeaderSection)} }}
)

// parser parses a header section.
type parser struct {
	section  bytes.Reader
	buffered *bufio.Reader
}

// serve serves the requests of the connection, until it is closed or handed over.
func (c *conn) serve() {
	defer c.server.remove(c)
	c.reader = readers.Get().(*bufio.Reader)
	c.reader.Reset(c.Conn)
	c.remote = c.RemoteAddr().String()
	// Like net/http's server, the loop closes a connection that ends within four bytes after a
	// response.
	for wait, least := c.server.ReadHeaderTimeout, 1; ; wait, least = c.server.IdleTimeout, 4 {
		section, err := c.next(wait, least)
		if err != nil {
			c.close()
			return
		}
		r := c.server.parse(section)
		if r == nil {
			c.handOver()
			return
		}
		_, _ = c.reader.Discard(len(section))
		c.isBusy.Store(true)
		isReusable := c.respond(r)
		c.isBusy.Store(false)
		if !isReusable || c.server.isClosing.Load() {
			c.close()
			return
		}
	}
}

// next waits for the given number of bytes of a request. It returns the header section, or nil
// if no whole one arrived at once.
func (c *conn) next(wait time.Duration, least int) ([]byte, error) {
	if c.reader.Buffered() < least {
		_ = c.SetReadDeadline(time.Now().Add(wait))
		if _, err := c.reader.Peek(least); err != nil {
			return nil, err
		}
	}
	received, err := c.reader.Peek(c.reader.Buffered())
	end := bytes.Index(received, []byte("\r\n\r\n"))
	if err != nil || end < 0 {
		return nil, err
	}
	return received[:end+len("\r\n\r\n")], nil
}

// parse returns the request of a header section, or nil if the loop does not serve it.
func (s *Server) parse(section []byte) *http.Request {
	if !s.isShortRead(section) {
		return nil
	}
	p := parsers.Get().(*parser)
	defer parsers.Put(p)
	p.section.Reset(section)
	p.buffered.Reset(&p.section)
	r, err := http.ReadRequest(p.buffered)
	if err != nil {
		return nil
	}
	return r
}

// respond serves a request. It reports whether the connection can be used for another one.
func (c *conn) respond(r *http.Request) (isReusable bool) {
	_ = c.SetWriteDeadline(time.Now().Add(c.server.WriteTimeout))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c.cancel = cancel
	r = r.WithContext(ctx)
	r.RemoteAddr = c.remote
	w := newResponse(c)
	defer w.release()
	c.startWatching()
	defer c.stopWatching()
	defer func() {
		if p := recover(); p != nil {
			isReusable = false
			c.report(p)
		}
	}()
	c.server.Handler.ServeHTTP(w, r)
	return w.finish() == nil
}

// report logs the panic of a handler. As with net/http, a handler aborts its response with
// http.ErrAbortHandler.
func (c *conn) report(p any) {
	if p == http.ErrAbortHandler { //nolint:errorlint // a value to compare, as net/http does
		return
	}
	text := fmt.Sprintf("http: panic serving %s: %v\n%s", c.remote, p, debug.Stack())
	if c.server.ErrorLog != nil {
		c.server.ErrorLog.Print(text)
	}
}

// startWatching makes the connection be watched after disconnectDelay.
func (c *conn) startWatching() {
	c.isServed = false
	if c.timer == nil {
		c.watched = make(chan struct{}, 1)
		c.timer = time.AfterFunc(disconnectDelay, c.watch)
		return
	}
	c.timer.Reset(disconnectDelay)
}

func (c *conn) stopWatching() {
	if c.timer.Stop() {
		return
	}
	c.watching.Lock()
	c.isServed = true
	_ = c.SetReadDeadline(time.Unix(1, 0)) // ends the wait of watch
	c.watching.Unlock()
	<-c.watched
}

// watch cancels the request that is being served if its client disconnects. What it receives
// stays in the reader.
func (c *conn) watch() {
	defer func() { c.watched <- struct{}{} }()
	received := c.reader.Buffered()
	if received == c.reader.Size() || !c.removeReadDeadline() {
		return
	}
	if _, err := c.reader.Peek(received + 1); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		c.cancel()
	}
}

// removeReadDeadline removes the deadline of reading, unless the request is served. Without
// the lock, it could remove the deadline with which stopWatching ends the wait.
func (c *conn) removeReadDeadline() bool {
	c.watching.Lock()
	defer c.watching.Unlock()
	if c.isServed {
		return false
	}
	_ = c.SetReadDeadline(time.Time{})
	return true
}

// handOver gives the connection to net/http's server, with what was received and not served.
func (c *conn) handOver() {
	_ = c.SetDeadline(time.Time{})
	received, _ := c.reader.Peek(c.reader.Buffered())
	replayed := &replayingConn{Conn: c.Conn, received: bytes.Clone(received)}
	c.release()
	if !c.handover.pass(accepted{conn: replayed}) {
		_ = c.Close()
	}
}

func (c *conn) close() {
	_ = c.Close()
	c.release()
}

func (c *conn) release() {
	c.reader.Reset(nil)
	readers.Put(c.reader)
}

// replayingConn is a connection of which a part was received already.
type replayingConn struct {
	net.Conn

	received []byte
}

// Read returns what was received already, and then what the connection receives.
func (c *replayingConn) Read(p []byte) (int, error) {
	if len(c.received) == 0 {
		return c.Conn.Read(p)
	}
	n := copy(p, c.received)
	c.received = c.received[n:]
	return n, nil
}

// CloseWrite ends what the client receives. Net/http's server does so before it closes a
// connection on which the client still sends, so that the client receives the last response.
func (c *replayingConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}
