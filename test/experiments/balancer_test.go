package experiments_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"slices"
	"sync"
	"testing"
	"time"
)

const (
	// probeInterval is how often the balancer asks each server whether it is ready.
	probeInterval = 100 * time.Millisecond
	// pageTimeout is how long the balancer waits for the answer. A server that is ready asks
	// the database.
	pageTimeout = 3 * time.Second
)

// balancer is a load balancer as a platform has one: clients have one address for REST and
// one for gRPC, and servers that are not ready get no new calls. If none is ready, all get
// calls.
type balancer struct {
	// REST and GRPC are the addresses for clients.
	REST, GRPC string

	mu       sync.Mutex
	backends map[*node]bool // whether the server is ready
	started  []*node        // also those that have ended
	idle     []func()       // close idle connections
}

func newBalancer(t *testing.T) *balancer {
	t.Helper()
	b := &balancer{backends: map[*node]bool{}}
	b.REST = b.listen(t, func(n *node) string { return n.REST }, new(http.Protocols))
	h2c := new(http.Protocols)
	h2c.SetUnencryptedHTTP2(true)
	b.GRPC = b.listen(t, func(n *node) string { return n.GRPC }, h2c)
	return b
}

func (b *balancer) listen(t *testing.T, address func(*node) string, protocols *http.Protocols) string {
	t.Helper()
	if !protocols.UnencryptedHTTP2() {
		protocols.SetHTTP1(true)
	}
	transport := &http.Transport{Protocols: protocols, MaxIdleConnsPerHost: 256, DisableCompression: true}
	b.idle = append(b.idle, transport.CloseIdleConnections)
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", "balanced" },
		Transport: balanced{b, transport, address},
		ErrorLog:  log.New(io.Discard, "", 0), // the client records the error
	}
	server := httptest.NewUnstartedServer(proxy)
	server.Config.Protocols = protocols
	server.Start()
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.CloseClientConnections()
		server.Close()
	})
	return server.Listener.Addr().String()
}

// add sends calls to a server once it is ready.
func (b *balancer) add(n *node) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.backends[n] = false
	b.started = append(b.started, n)
	go b.probe(n)
}

// everStarted returns all servers, also those that have ended.
func (b *balancer) everStarted() []*node {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.started)
}

// remove forgets a server.
func (b *balancer) remove(n *node) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.backends, n)
}

func (b *balancer) probe(n *node) {
	for ; ; time.Sleep(probeInterval) {
		status, _ := n.admin("/readyz")
		b.mu.Lock()
		_, known := b.backends[n]
		if known {
			b.backends[n] = status == http.StatusOK
		}
		b.mu.Unlock()
		if !known {
			return
		}
	}
}

// waitReady waits until the balancer sends calls to a server.
func (b *balancer) waitReady(t *testing.T, n *node) {
	t.Helper()
	isReady := func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.backends[n]
	}
	if !eventually(patience, isReady) {
		t.Fatalf("a server does not get ready:\n%s", n.Log())
	}
}

// next returns the servers to try, in turn.
func (b *balancer) next() []*node {
	b.mu.Lock()
	defer b.mu.Unlock()
	var ready, all []*node
	for n, isReady := range b.backends {
		all = append(all, n)
		if isReady {
			ready = append(ready, n)
		}
	}
	if len(ready) == 0 {
		ready = all
	}
	return ready // in the random order of maps
}

func (b *balancer) closeIdle() {
	for _, closeIdle := range b.idle {
		closeIdle()
	}
}

// balanced is a transport that sends each request to one of the servers. If a server cannot
// be reached, the request was not sent, and another server gets it.
type balanced struct {
	*balancer

	transport *http.Transport
	address   func(*node) string
}

var errNoServer = errors.New("no server can be reached")

func (b balanced) RoundTrip(r *http.Request) (*http.Response, error) {
	for _, n := range b.next() {
		out := r.Clone(r.Context())
		out.URL.Host = b.address(n)
		response, err := b.transport.RoundTrip(out)
		var dial *net.OpError
		if errors.As(err, &dial) && dial.Op == "dial" {
			continue
		}
		return response, err
	}
	return nil, errNoServer
}

// get requests a page.
func get(url string) (status int, body string) {
	ctx, cancel := context.WithTimeout(context.Background(), pageTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, err.Error()
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(text)
}
