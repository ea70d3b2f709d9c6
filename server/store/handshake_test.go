package store_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/moderato-live/moderato/server/store"
)

// TestConnectionLostInHandshakeIsRecognized has the network fail directly after the server's
// greeting. The error must be one that makes a transaction be retried.
func TestConnectionLostInHandshakeIsRecognized(t *testing.T) {
	config := mysql.NewConfig()
	config.Net, config.Addr, config.Logger = "tcp", "database:3306", &mysql.NopLogger{}
	config.DialFunc = func(context.Context, string, string) (net.Conn, error) {
		client, database := net.Pipe()
		t.Cleanup(func() { _ = errors.Join(client.Close(), database.Close()) })
		go func() { _, _ = database.Write(greeting()) }()
		return deaf{client}, nil
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Session(connector).Connect(t.Context()); !errors.Is(err, mysql.ErrInvalidConn) {
		t.Errorf("got %v, want %v", err, mysql.ErrInvalidConn)
	}
}

// deaf is a connection that breaks at the first write.
type deaf struct{ net.Conn }

func (deaf) Write([]byte) (int, error) { return 0, net.ErrClosed }

// greeting returns the first packet of a MySQL server.
func greeting() []byte {
	const protocol41, pluginAuth, secureConnection = 0x0200, 0x08, 0x8000
	body := append([]byte{10}, "9.7.0\x00"...)
	body = append(body, 1, 0, 0, 0)                                                    // the id of the connection
	body = append(body, "abcdefgh\x00"...)                                             // the first part of the challenge
	body = append(body, 0, (protocol41|secureConnection)>>8, 45, 2, 0)                 // capabilities, character set, status
	body = append(body, pluginAuth, 0, 21)                                             // capabilities, the length of the challenge
	body = append(body, "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00ijklmnopqrst\x00"...) // the second part
	body = append(body, "mysql_native_password\x00"...)
	return append([]byte{byte(len(body)), 0, 0, 0}, body...)
}
