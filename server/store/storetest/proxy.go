package storetest

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/moderato-live/moderato/server/store"
)

// Cut says where a Proxy cuts a connection.
type Cut int

// The places to cut.
const (
	// Nowhere lets everything through.
	Nowhere Cut = iota
	// BeforeCommit loses the COMMIT on its way to the server.
	BeforeCommit
	// AfterCommit lets the COMMIT through and loses the answer.
	AfterCommit
	// LateCommit loses the answer first: the COMMIT happens a while after. This
	// and the following only a Cutter can.
	LateCommit
	// AtStatement loses the first statement of the transaction.
	AtStatement
)

// Proxy is between a server and its database of the MySQL family, and cuts a
// connection at its COMMIT when told to.
type Proxy struct {
	// URL is the database, through the proxy.
	URL store.URL

	target string
	mu     sync.Mutex
	cuts   []Cut
	made   int
	down   bool
	open   map[net.Conn]bool
}

// commit is the packet that commits: its length, number, and command.
var commit = []byte("\x07\x00\x00\x00\x03COMMIT")

// NewProxy starts a proxy before a database.
func NewProxy(t *testing.T, url store.URL) *Proxy {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	p := &Proxy{URL: url, target: url.Host, open: map[net.Conn]bool{}}
	p.URL.Host = listener.Addr().String()
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

// CutNext has the next COMMITs cut, in this order.
func (p *Proxy) CutNext(cuts ...Cut) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cuts, p.made = cuts, 0
}

// Made is how many cuts were made since CutNext.
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

// enter keeps a connection until leave, unless the database is down.
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
		_, _ = io.Copy(client, server)
		_ = client.Close()
	})
	defer answers.Wait()
	packet := make([]byte, 64<<10)
	for {
		n, err := client.Read(packet)
		if err != nil {
			_ = server.Close()
			return
		}
		cut := Nowhere
		if bytes.Equal(packet[:n], commit) {
			cut = p.next()
		}
		if cut != Nowhere {
			_ = client.Close() // nobody hears the answer
		}
		if cut == BeforeCommit {
			_ = server.Close()
			return
		}
		if _, err := server.Write(packet[:n]); err != nil {
			return
		}
		if cut == AfterCommit {
			return // the server goes on with the COMMIT until it sees us gone
		}
	}
}
