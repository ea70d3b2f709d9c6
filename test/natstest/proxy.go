package natstest

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// Proxy is a proxy in front of a Broker, which can hang.
type Proxy struct {
	// URL is the URL of the Broker through the Proxy.
	URL string

	target string
	mu     sync.Mutex // held while the Proxy hangs
}

// Through starts a Proxy in front of the Broker.
func (b *Broker) Through(t testing.TB) *Proxy {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	p := &Proxy{target: b.Addr().String(), URL: strings.Replace(b.URL(), b.Addr().String(), listener.Addr().String(), 1)}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(context.WithoutCancel(t.Context()), client)
		}
	}()
	return p
}

// Hang has the Proxy pass on nothing until goOn is called. Its connections stay open.
func (p *Proxy) Hang() (goOn func()) {
	p.mu.Lock()
	return p.mu.Unlock
}

func (p *Proxy) serve(ctx context.Context, client net.Conn) {
	server, err := new(net.Dialer).DialContext(ctx, "tcp", p.target)
	if err != nil {
		_ = client.Close()
		return
	}
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		both.Go(func() {
			_, _ = io.Copy(&patient{way[1], p}, way[0])
			_ = way[1].Close()
		})
	}
	both.Wait()
}

// patient writes when the Proxy does not hang.
type patient struct {
	net.Conn
	proxy *Proxy
}

func (w *patient) Write(b []byte) (int, error) {
	w.proxy.mu.Lock()
	defer w.proxy.mu.Unlock()
	return w.Conn.Write(b)
}
