package prepared

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// boundedConn is a connection of the MySQL driver whose statements can have a
// deadline. The driver itself takes deadlines only from the contexts of its calls, and
// runs a goroutine to watch each context. The synchronization with that goroutine costs
// more than reading a small result.
type boundedConn struct {
	Conn
	socket *socket
}

// endAt sets the deadline of subsequent reads and writes; the zero time removes it.
func (c *boundedConn) endAt(deadline time.Time) { c.socket.end = deadline }

// afterKey is the context key of the statement that follows a transaction.
type afterKey struct{}

// After returns a context for a transaction after which its connection executes a statement,
// whether it was committed or rolled back.
func After(ctx context.Context, statement string) context.Context {
	return context.WithValue(ctx, afterKey{}, statement)
}

// BeginTx begins a transaction whose COMMIT ends at the deadline of ctx. The driver itself would
// wait for the response for as long as its read timeout.
func (c *boundedConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	tx, err := c.Conn.BeginTx(ctx, o)
	deadline, ok := ctx.Deadline()
	after, _ := ctx.Value(afterKey{}).(string)
	if err != nil || (!ok && after == "") {
		return tx, err
	}
	return &boundedTx{tx, c, deadline, after}, nil
}

// boundedTx is a transaction whose COMMIT has a deadline.
type boundedTx struct {
	driver.Tx
	conn     *boundedConn
	deadline time.Time // zero if there is none
	after    string    // see After
}

// minCommit is how long a COMMIT may take at least: the outcome of one that is given up is
// unknown.
const minCommit = 300 * time.Millisecond

// Commit returns the error of a lost connection at the deadline: the outcome is unknown.
func (t *boundedTx) Commit() error {
	if !t.deadline.IsZero() {
		t.conn.endAt(later(t.deadline, time.Now().Add(minCommit)))
	}
	defer t.conn.endAt(time.Time{})
	err := t.Tx.Commit()
	if err == nil {
		t.follow()
	}
	return err
}

// follow executes the statement after the transaction. If that fails, the connection broke.
func (t *boundedTx) follow() {
	if t.after != "" {
		t.conn.endAt(later(t.deadline, time.Now().Add(maxRollback)))
		_, _ = t.conn.ExecContext(context.Background(), t.after, nil)
	}
}

// maxRollback is how long a ROLLBACK may take beyond the deadline of its transaction.
const maxRollback = time.Second

// Rollback ends soon after the deadline. The server rolls back when the connection is closed.
func (t *boundedTx) Rollback() error {
	t.conn.endAt(later(t.deadline, time.Now().Add(maxRollback)))
	defer t.conn.endAt(time.Time{})
	err := t.Tx.Rollback()
	if err == nil {
		t.follow()
	}
	return err
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// CheckNamedValue lets the driver convert an argument.
func (c *boundedConn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.Conn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// socket is the network connection of a driver connection. Like the driver connection,
// it is used by one goroutine at a time.
type socket struct {
	*net.TCPConn // the driver uses its SyscallConn

	end time.Time
}

// SetReadDeadline sets the earlier of t and the statement's deadline. The driver calls
// it before each read if it has a read timeout.
func (s *socket) SetReadDeadline(t time.Time) error { return s.TCPConn.SetReadDeadline(s.earlier(t)) }

// SetWriteDeadline is SetReadDeadline for writes.
func (s *socket) SetWriteDeadline(t time.Time) error { return s.TCPConn.SetWriteDeadline(s.earlier(t)) }

func (s *socket) earlier(t time.Time) time.Time {
	if !s.end.IsZero() && s.end.Before(t) {
		return s.end
	}
	return t
}

// dialedKey is the context key of the **socket in which Dial stores its socket.
type dialedKey struct{}

// Dial opens a network connection whose driver connection accepts deadlines. It
// implements the driver's DialFunc.
func Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, network, addr)
	if errors.Is(err, context.DeadlineExceeded) {
		// The driver's limit for dialing, which is shorter than a call, makes the database
		// unavailable, and is no deadline of the call.
		return nil, fmt.Errorf("dial %s: %w", addr, os.ErrDeadlineExceeded)
	}
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

// bounding is a connector that wraps the connections that Dial made in boundedConns.
type bounding struct{ driver.Connector }

func (b bounding) Connect(ctx context.Context) (driver.Conn, error) {
	var s *socket
	c, err := b.Connector.Connect(context.WithValue(ctx, dialedKey{}, &s))
	if err != nil {
		return nil, err
	}
	inner, ok := c.(Conn)
	if !ok || s == nil {
		return c, nil
	}
	return &boundedConn{inner, s}, nil
}
