package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"net"
	"time"
)

// boundedConn is a connection of the MySQL driver whose statements can be given
// a deadline. The driver itself knows deadlines by the contexts of its calls only, and
// has a goroutine watch each of them: handing a statement over to it and back costs
// more than reading a small answer.
type boundedConn struct {
	connection
	socket *socket
}

// endAt bounds what is read and written from now on; the zero time ends that.
func (c *boundedConn) endAt(deadline time.Time) { c.socket.end = deadline }

// CheckNamedValue has the driver convert an argument.
func (c *boundedConn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.connection.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// socket is what the driver reads from. One goroutine at a time uses it, as the
// connection that is over it.
type socket struct {
	*net.TCPConn // whose SyscallConn the driver asks for

	end time.Time
}

// SetReadDeadline is called by the driver before each read, with its own bound, if it
// has one.
func (s *socket) SetReadDeadline(t time.Time) error { return s.TCPConn.SetReadDeadline(s.earlier(t)) }

// SetWriteDeadline is the same before each write.
func (s *socket) SetWriteDeadline(t time.Time) error { return s.TCPConn.SetWriteDeadline(s.earlier(t)) }

func (s *socket) earlier(t time.Time) time.Time {
	if !s.end.IsZero() && s.end.Before(t) {
		return s.end
	}
	return t
}

// dialedKey is where a context has the place for the socket that is dialed in it.
type dialedKey struct{}

// dial is the driver's DialFunc.
func dial(ctx context.Context, network, addr string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return c, nil
	}
	s := &socket{TCPConn: tcp}
	if dialed, ok := ctx.Value(dialedKey{}).(**socket); ok {
		*dialed = s
	}
	return s, nil
}

// bounding makes boundedConns of connections that are dialed by dial.
type bounding struct{ driver.Connector }

func (b bounding) Connect(ctx context.Context) (driver.Conn, error) {
	var s *socket
	c, err := b.Connector.Connect(context.WithValue(ctx, dialedKey{}, &s))
	if err != nil {
		return nil, err
	}
	inner, ok := c.(connection)
	if !ok || s == nil {
		return c, nil
	}
	return &boundedConn{inner, s}, nil
}
