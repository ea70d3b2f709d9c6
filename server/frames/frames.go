// Package frames bounds what the control frames of an HTTP/2 connection cost. A client may
// send frames that it need not pay for with a request: it opens streams and cancels them, or
// more of them than it may have, asks for a PING response, changes settings, or sends a header
// block whose few bytes refer to long fields. Package http and gRPC handle them as fast as they
// arrive, at the expense of other connections. This package reads such frames at a bounded
// rate, and bounds how often a client of gRPC whose connection was closed opens another one.
package frames

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/net/http2"
	"golang.org/x/time/rate"
	"google.golang.org/grpc/credentials"

	"github.com/moderato-live/moderato/server/peer"
)

const (
	// perSecond is how many control frames a connection may send in a second.
	perSecond = 1000
	// burst is how many it may send at once. A client cancels as many streams at once as a
	// connection may have.
	burst = 1000
	// writtenPerFrame is how many bytes sent to the client pay for one control frame: a
	// client that receives data sends WINDOW_UPDATE and PING frames with it, of each type at
	// most one for 4 KiB.
	writtenPerFrame = 1 << 10
	// paidByData is the number of control frames that each DATA frame sent to the client pays
	// for, in addition to those for its length. A gRPC client sends a PING and a WINDOW_UPDATE
	// with each response that it receives, to measure the network.
	paidByData = 3
	// freeBlock is the length in bytes up to which a frame with a header block is free. Of
	// longer blocks, each blockPerFrame bytes cost as much as a control frame.
	freeBlock     = 1 << 10
	blockPerFrame = 64
)

// headerLength is the length of the header of a frame in bytes.
const headerLength = 9

// Guard makes connections that bound the cost of control frames.
type Guard struct {
	delayed    prometheus.Counter
	sleep      func(time.Duration, <-chan struct{})
	unanswered *unanswered
}

// NewGuards returns the Guards of REST and of gRPC, and registers their metric.
func NewGuards(registry prometheus.Registerer) (rest, grpc *Guard, err error) {
	delayed := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "moderato_http2_reads_delayed_total",
		Help: "Reads of HTTP/2 connections that were delayed because the client sent too many control frames, by transport.",
	}, []string{"transport"})
	unanswered := newUnanswered()
	for _, c := range []prometheus.Collector{delayed, unanswered.delayed} {
		if err := registry.Register(c); err != nil {
			return nil, nil, fmt.Errorf("metrics: %w", err)
		}
	}
	return &Guard{delayed: delayed.WithLabelValues("rest"), sleep: sleep},
		&Guard{delayed: delayed.WithLabelValues("grpc"), sleep: sleep, unanswered: unanswered}, nil
}

// sleep waits, but not longer than until done is closed.
func sleep(d time.Duration, done <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-done:
	}
}

// conn returns a connection that reads from c. If c speaks HTTP/2 and sends too many control
// frames, reads are delayed.
func (g *Guard) conn(c net.Conn) *conn {
	return &conn{
		Conn: c, guard: g, budget: rate.NewLimiter(perSecond, burst), done: make(chan struct{}),
		sent: parser{state: atSettings}, ended: func() {},
	}
}

// Listener returns a listener whose connections bound the cost of control frames.
func (g *Guard) Listener(l net.Listener) net.Listener { return listener{l, g} }

// Credentials returns credentials whose server connections bound the cost of control frames,
// also those with TLS, and of connections that end without a response.
func (g *Guard) Credentials(c credentials.TransportCredentials) credentials.TransportCredentials {
	return guarding{c, g}
}

type guarding struct {
	credentials.TransportCredentials
	guard *Guard
}

// ServerHandshake makes the connection of a client.
func (g guarding) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	address := peer.OfConnection(raw)
	if err := g.guard.admit(address); err != nil {
		return nil, nil, err
	}
	c, info, err := g.TransportCredentials.ServerHandshake(raw)
	if err != nil {
		g.guard.unanswered.count(address)
		return nil, nil, err //nolint:wrapcheck // gRPC recognizes some errors
	}
	guarded := g.guard.conn(c)
	guarded.ended = func() {
		if !guarded.answered.Load() {
			g.guard.unanswered.count(address)
		}
	}
	return guarded, info, nil
}

// Clone copies the credentials.
func (g guarding) Clone() credentials.TransportCredentials {
	return guarding{g.TransportCredentials.Clone(), g.guard}
}

type listener struct {
	net.Listener
	guard *Guard
}

// Accept waits for a connection.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err //nolint:wrapcheck // the listener's own
	}
	return l.guard.conn(c), nil
}

// conn is a connection with a budget of control frames.
type conn struct {
	net.Conn

	guard    *Guard
	budget   *rate.Limiter
	received parser
	sent     parser
	refused  atomic.Int64 // streams that the server has reset and the client has not paid for
	credit   atomic.Int64 // what was sent and has not paid for a frame yet, in bytes
	answered atomic.Bool  // whether the server has sent a response

	close sync.Once
	done  chan struct{} // closed when the connection is
	ended func()        // called once, when the connection is closed
}

// Read reads, and waits for as long as what was read costs more than the budget.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	cost := int(c.refused.Swap(0))
	c.received.parse(p[:n], func(f frame) { cost += f.cost() })
	if cost > 0 {
		c.pay(cost)
	}
	return n, err //nolint:wrapcheck // the connection's own
}

// pay pays for control frames with the bytes that were sent, and with the budget.
func (c *conn) pay(cost int) {
	for cost > 0 && c.credit.Load() >= writtenPerFrame {
		c.credit.Add(-writtenPerFrame)
		cost--
	}
	var delay time.Duration
	for now := time.Now(); cost > 0; cost -= burst {
		delay = c.budget.ReserveN(now, min(cost, burst)).DelayFrom(now)
	}
	if delay > 0 {
		c.guard.delayed.Inc()
		c.guard.sleep(delay, c.done)
	}
}

// Write writes p, adds what it pays for to the client's credit, and counts the streams that the
// server resets.
func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	paid := n
	c.sent.parse(p[:n], func(f frame) {
		switch f.kind {
		case http2.FrameRSTStream:
			c.refused.Add(1)
		case http2.FrameHeaders:
			c.answered.Store(true)
		}
		paid += f.paid() * writtenPerFrame
	})
	if n > 0 && c.credit.Add(int64(paid)) > burst*writtenPerFrame {
		c.credit.Store(burst * writtenPerFrame)
	}
	return n, err //nolint:wrapcheck // the connection's own
}

// CloseWrite ends what the server sends, and lets the client receive the rest of it. Package
// http needs the method to refuse a request before it has read all of it.
func (c *conn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite() //nolint:wrapcheck // the connection's own
	}
	return nil
}

// Close closes the connection, and ends the wait of a Read.
func (c *conn) Close() error {
	c.close.Do(func() {
		close(c.done)
		c.ended()
	})
	return c.Conn.Close() //nolint:wrapcheck // the connection's own
}

// parser finds the headers of frames in one direction of a connection.
type parser struct {
	state   state
	header  [headerLength]byte
	have    int // bytes of the preface or of the header
	payload int // bytes of the payload that remain
}

// state is what a parser expects next.
type state int

const (
	// atPreface is the beginning of what a client sends.
	atPreface state = iota
	// atSettings is the beginning of what a server sends: its settings.
	atSettings
	inFrames
	notHTTP2
)

// frame is the header of a frame.
type frame struct {
	kind   http2.FrameType
	flags  http2.Flags
	length int
}

// cost returns what a frame of the client costs, in control frames.
func (f frame) cost() int {
	switch f.kind {
	case http2.FrameData:
		if f.length > 0 || f.flags.Has(http2.FlagDataEndStream) {
			return 0
		}
		return 1
	case http2.FrameHeaders:
		return max(0, f.length-freeBlock) / blockPerFrame
	case http2.FrameContinuation:
		return 1 + f.length/blockPerFrame
	}
	return 1
}

// paid returns the number of control frames that a frame of the server pays for, in addition to
// those for its length.
func (f frame) paid() int {
	switch {
	case f.kind == http2.FrameData && f.length > 0:
		return paidByData
	case f.kind == http2.FramePing && !f.flags.Has(http2.FlagPingAck), f.kind == http2.FrameSettings && !f.flags.Has(http2.FlagSettingsAck):
		return 1 // the client acknowledges it
	}
	return 0
}

// parse calls found for each frame whose header ends in the next bytes of the connection.
func (s *parser) parse(b []byte, found func(frame)) {
	for len(b) > 0 && s.state != notHTTP2 {
		switch {
		case s.state == atPreface:
			b = s.skipPreface(b)
		case s.payload > 0:
			n := min(s.payload, len(b))
			s.payload -= n
			b = b[n:]
		default:
			n := copy(s.header[s.have:], b)
			s.have += n
			b = b[n:]
			if s.have == headerLength {
				s.endHeader(found)
			}
		}
	}
}

var preface = []byte(http2.ClientPreface)

// skipPreface returns what follows the preface of HTTP/2.
func (s *parser) skipPreface(b []byte) []byte {
	n := min(len(b), len(preface)-s.have)
	if !bytes.Equal(b[:n], preface[s.have:s.have+n]) {
		s.state = notHTTP2
		return nil
	}
	if s.have += n; s.have == len(preface) {
		s.state, s.have = inFrames, 0
	}
	return b[n:]
}

// endHeader calls found for the frame whose header was read.
func (s *parser) endHeader(found func(frame)) {
	f := frame{http2.FrameType(s.header[3]), http2.Flags(s.header[4]), int(binary.BigEndian.Uint32(s.header[:4]) >> 8)}
	if s.state == atSettings && f.kind != http2.FrameSettings {
		s.state = notHTTP2
		return
	}
	s.state, s.have, s.payload = inFrames, 0, f.length
	found(f)
}
