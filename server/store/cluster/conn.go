package cluster

import (
	"context"
	"database/sql/driver"
	"net"
)

// connection is the set of interfaces that the driver's connections implement.
type connection interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.NamedValueChecker
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// conn is a connection to the primary. At the end of its term, its socket is closed.
type conn struct {
	connection

	term *term
	keep func() bool // keeps the socket open
}

// ResetSession is called before the pool uses the connection again. It fails after the end of
// the term, so that the pool discards the connection.
func (c *conn) ResetSession(ctx context.Context) error {
	if c.term.ctx.Err() != nil {
		return driver.ErrBadConn
	}
	return c.connection.ResetSession(ctx)
}

// Close closes the connection.
func (c *conn) Close() error {
	c.keep()
	return c.connection.Close()
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
