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
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// conn is a connection to the primary. The pool discards it when the member is no longer
// the primary.
type conn struct {
	connection

	primary *primary
	socket  net.Conn
}

// IsValid reports whether the pool may keep the connection.
func (c *conn) IsValid() bool { return !c.primary.ended.Load() && c.connection.IsValid() }

// ResetSession is called before the pool uses the connection again.
func (c *conn) ResetSession(ctx context.Context) error {
	if c.primary.ended.Load() {
		return driver.ErrBadConn
	}
	return c.connection.ResetSession(ctx)
}

// Close closes the connection.
func (c *conn) Close() error {
	c.primary.forget(c.socket)
	return c.connection.Close()
}

// CheckNamedValue lets the driver convert an argument.
func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.connection.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// dialedKey is the context key of the *net.Conn in which Dial stores its connection.
type dialedKey struct{}

// DialFunc opens a network connection.
type DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

// Dial returns a function that dials with another one, and lets a Connector close the
// connection while a statement runs on it.
func Dial(dial DialFunc) DialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		socket, err := dial(ctx, network, addr)
		if dialed, ok := ctx.Value(dialedKey{}).(*net.Conn); ok && err == nil {
			*dialed = socket
		}
		return socket, err
	}
}
