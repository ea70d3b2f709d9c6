package storetest

import (
	"bytes"
	"context"
	"net"
	"sync"
	"testing"

	"github.com/moderato-live/moderato/server/store"
)

// Cut is the place at which a Proxy or a Cutter cuts a connection.
type Cut int

// The values of Cut.
const (
	// Nowhere cuts nothing.
	Nowhere Cut = iota
	// BeforeCommit loses the COMMIT before it reaches the server.
	BeforeCommit
	// AfterCommit forwards the COMMIT and loses its response.
	AfterCommit
	// LateCommit loses the response first: the COMMIT happens lateBy later. Only a
	// Cutter supports LateCommit and AtStatement.
	LateCommit
	// AtStatement loses a statement of the transaction: the first one, unless
	// Cutter.CutStatements chose another.
	AtStatement
)

// Proxy is a proxy between a server and its database of the MySQL family. It cuts
// connections at a COMMIT as set by CutNext.
type Proxy struct {
	// URL is the URL of the database through the proxy.
	URL store.URL

	target string
	mu     sync.Mutex
	cuts   []Cut
	made   int
	down   bool
	open   map[net.Conn]bool
	weather
}

// commit is the packet of a COMMIT: its length, number, and command.
var commit = []byte("\x07\x00\x00\x00\x03COMMIT")

// NewProxy starts a proxy in front of a database.
func NewProxy(t *testing.T, url store.URL) *Proxy {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	p := &Proxy{URL: url, target: url.Host, open: map[net.Conn]bool{}}
	p.URL.Host = listener.Addr().String()
	p.changed.L = &p.mu
	t.Cleanup(func() { p.SetFault(Fault{}) })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(client)
		}
	}()
	return p
}

// CutNext applies the cuts, in this order, to the next COMMITs.
func (p *Proxy) CutNext(cuts ...Cut) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cuts, p.made = cuts, 0
}

// Made returns how many cuts were made since CutNext.
func (p *Proxy) Made() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.made
}

// SetDown makes the database unreachable, or reachable again.
func (p *Proxy) SetDown(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
	if down {
		for conn := range p.open {
			_ = conn.Close()
		}
	}
}

// enter records an open connection until leave. It returns false if the database is down.
func (p *Proxy) enter(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.down {
		p.open[conn] = true
	}
	return !p.down
}

func (p *Proxy) leave(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, conn)
	_ = conn.Close()
}

func (p *Proxy) next() Cut {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.cuts) == 0 {
		return Nowhere
	}
	cut := p.cuts[0]
	p.cuts = p.cuts[1:]
	if cut != Nowhere {
		p.made++
	}
	return cut
}

func (p *Proxy) serve(client net.Conn) {
	defer p.leave(client)
	if !p.enter(client) {
		return
	}
	server, err := new(net.Dialer).DialContext(context.Background(), "tcp", p.target)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	var answers sync.WaitGroup
	answers.Go(func() {
		p.copyResponses(client, server)
		_ = client.Close()
	})
	defer answers.Wait()
	packet := make([]byte, 64<<10)
	for {
		n, err := client.Read(packet)
		p.pass(requests) // a lost connection is not noticed earlier than its packets
		if err != nil {
			_ = server.Close()
			return
		}
		cut := Nowhere
		if bytes.Equal(packet[:n], commit) {
			cut = p.next()
		}
		if cut != Nowhere {
			_ = client.Close() // loses the response
		}
		if cut == BeforeCommit {
			_ = server.Close()
			return
		}
		if _, err := server.Write(packet[:n]); err != nil {
			return
		}
		if cut == AfterCommit {
			return // the server runs the COMMIT before it notices the disconnect
		}
	}
}
