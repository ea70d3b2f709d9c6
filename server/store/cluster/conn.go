package cluster

import (
	"context"
	"database/sql/driver"
	"net"

	"github.com/moderato-live/moderato/server/store/prepared"
)

// conn is a connection to the primary. At the end of its term, its socket is closed.
type conn struct {
	prepared.Conn

	term *term
	keep func() bool // keeps the socket open
}

// ResetSession makes the pool discard the connection after the end of the term.
func (c *conn) ResetSession(ctx context.Context) error {
	if c.term.ctx.Err() != nil {
		return driver.ErrBadConn
	}
	return c.Conn.ResetSession(ctx)
}

// Close closes the connection.
func (c *conn) Close() error {
	c.keep()
	return c.Conn.Close()
}

// CheckNamedValue lets the driver convert an argument.
func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	return c.Conn.(driver.NamedValueChecker).CheckNamedValue(v) //nolint:forcetypeassert // the driver is known
}

// dialedKey is the context key of the *net.Conn in which Dial stores its connection.
type dialedKey struct{}

// DialFunc opens a network connection.
type DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

// Dial returns a function that dials with another one, and lets a Connector close the
// connection while a statement runs on it: a member that is unreachable would never answer.
func Dial(dial DialFunc) DialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		socket, err := dial(ctx, network, addr)
		if dialed, ok := ctx.Value(dialedKey{}).(*net.Conn); ok && err == nil {
			*dialed = socket
		}
		return socket, err
	}
}
