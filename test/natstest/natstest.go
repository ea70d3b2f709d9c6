// Package natstest runs NATS servers for tests.
package natstest

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Broker is a real NATS server with JetStream in this process.
type Broker struct {
	*server.Server
	options *server.Options
}

// Start starts a Broker, which stops when the test ends.
func Start(t testing.TB) *Broker {
	t.Helper()
	b := &Broker{options: &server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, Username: "moderato", Password: "right",
		JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
	}}
	b.Restart(t)
	t.Cleanup(b.Stop)
	return b
}

// Restart starts the Broker again, on the same port.
func (b *Broker) Restart(t testing.TB) {
	t.Helper()
	var err error
	if b.Server, err = server.NewServer(b.options); err != nil {
		t.Fatal(err)
	}
	b.Start()
	if !b.ReadyForConnections(20 * time.Second) {
		t.Fatal("NATS does not start")
	}
	if address, ok := b.Addr().(*net.TCPAddr); ok {
		b.options.Port = address.Port
	}
}

// Stop stops the Broker. Its connections end.
func (b *Broker) Stop() {
	b.Shutdown()
	b.WaitForShutdown()
}

// URL is the URL of the Broker.
func (b *Broker) URL() string { return b.URLWith("right") }

// URLWith is URL with a password that the Broker refuses, unless it is "right".
func (b *Broker) URLWith(password string) string {
	return fmt.Sprintf("nats://moderato:%s@127.0.0.1:%d", password, b.options.Port)
}
