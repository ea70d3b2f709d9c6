// Package natstest runs NATS servers for tests.
package natstest

import (
	"fmt"
	"net"
	"strings"
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
		Host: "127.0.0.1", Port: server.RANDOM_PORT, Users: users(&server.SubjectPermission{Deny: []string{"chat.*"}}),
		JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
	}}
	b.Restart(t)
	t.Cleanup(b.Stop)
	return b
}

// users are the users of a Broker. What two of them may not publish, or subscribe to, is denied.
func users(denied *server.SubjectPermission) []*server.User {
	return []*server.User{
		{Username: "moderato", Password: "right"},
		{Username: "mute", Password: "right", Permissions: &server.Permissions{Publish: denied}},
		{Username: "deaf", Password: "right", Permissions: &server.Permissions{Subscribe: denied}},
	}
}

// Grant allows everything to all users. The Broker keeps its connections.
func (b *Broker) Grant(t testing.TB) {
	t.Helper()
	b.options.Users = users(nil)
	if err := b.ReloadOptions(b.options); err != nil {
		t.Fatal(err)
	}
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

// URLOf is URL with the user mute, who may not publish to chat.*, or deaf, who may not subscribe to it.
func (b *Broker) URLOf(user string) string { return strings.Replace(b.URL(), "moderato", user, 1) }

// URLWith is URL with a password that the Broker refuses, unless it is "right".
func (b *Broker) URLWith(password string) string {
	return fmt.Sprintf("nats://moderato:%s@127.0.0.1:%d", password, b.options.Port)
}
