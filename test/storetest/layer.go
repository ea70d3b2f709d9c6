package storetest

import (
	"context"
	"database/sql/driver"
	"errors"
	"runtime"
	"strings"
)

// chooser selects the transactions to intercept.
type chooser interface {
	// begin is called before each transaction. It returns nil if the transaction is not
	// to be intercepted.
	begin() transaction
}

// transaction is an intercepted transaction.
type transaction interface {
	// at is called before each step: BEGIN, each statement, COMMIT. If it returns an
	// error, a statement fails with that error.
	at(step string) error
	// commit is called instead of COMMIT; do runs the COMMIT.
	commit(do func() error) error
	rolledBack()
}

// isOnStack reports whether a function whose name contains function is on the stack of
// the goroutine that begins a transaction.
func isOnStack(function string) bool {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	for {
		frame, more := frames.Next()
		if strings.Contains(frame.Function, function) {
			return true
		}
		if !more {
			return false
		}
	}
}

// The steps that are not statements.
const (
	beginStep  = "BEGIN"
	commitStep = "COMMIT"
)

// layer wraps a driver for a store.Layer.
type layer struct {
	driver.Connector
	chooser chooser
}

func (l layer) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := l.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &layeredConn{Conn: conn, chooser: l.chooser}, nil
}

// layeredConn forwards every call to the driver's connection. It relies on interfaces
// that the drivers of both kinds of store implement.
type layeredConn struct {
	driver.Conn
	chooser chooser
	isOpen  bool // whether a transaction is open
	current transaction
	lost    *lostError // non-nil when the connection is no longer usable
}

func (c *layeredConn) at(step string) error {
	if c.current == nil {
		return nil
	}
	err := c.current.at(step)
	_ = errors.As(err, &c.lost)
	return err
}

func (c *layeredConn) rolledBack() {
	if c.current != nil {
		c.current.rolledBack()
	}
	c.current = nil
}

func (c *layeredConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	c.current = c.chooser.begin()
	_ = c.at(beginStep)
	tx, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
	if err != nil {
		c.rolledBack()
		return nil, err
	}
	c.isOpen = true
	return &layeredTx{tx, c}, nil
}

func (c *layeredConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (result driver.Result, err error) {
	if err := c.at(query); err != nil {
		return nil, err
	}
	execute := func() (err error) {
		result, err = c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
		return err
	}
	// Outside a transaction, a statement is its own COMMIT.
	if alone := c.beginAlone(); alone != nil {
		err := alone.commit(execute)
		if errors.As(err, &c.lost) {
			return nil, err
		}
		return result, err
	}
	err = execute()
	return result, err
}

// beginAlone returns the interception of a statement that is a transaction of its own.
func (c *layeredConn) beginAlone() transaction {
	if c.isOpen {
		return nil
	}
	return c.chooser.begin()
}

func (c *layeredConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.at(query); err != nil {
		return nil, err
	}
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

func (c *layeredConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
}

func (c *layeredConn) Ping(ctx context.Context) error { return c.Conn.(driver.Pinger).Ping(ctx) }

func (c *layeredConn) ResetSession(ctx context.Context) error {
	return c.Conn.(driver.SessionResetter).ResetSession(ctx)
}

func (c *layeredConn) IsValid() bool { return c.lost == nil && c.Conn.(driver.Validator).IsValid() }

// Close closes the connection. It does not wait for a lost connection.
func (c *layeredConn) Close() error {
	if c.lost == nil {
		return c.Conn.Close()
	}
	go func() {
		<-c.lost.over
		_ = c.Conn.Close()
	}()
	return nil
}

func (c *layeredConn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.Conn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

type layeredTx struct {
	driver.Tx
	conn *layeredConn
}

func (t *layeredTx) Commit() error {
	t.conn.isOpen = false
	current := t.conn.current
	if current == nil {
		return t.Tx.Commit()
	}
	_ = current.at(commitStep)
	t.conn.current = nil
	err := current.commit(t.Tx.Commit)
	_ = errors.As(err, &t.conn.lost)
	return err
}

func (t *layeredTx) Rollback() error {
	t.conn.isOpen = false
	t.conn.rolledBack()
	if lost := t.conn.lost; lost != nil && !lost.isOver() {
		return lost // the database rolls back when it notices the loss
	}
	return t.Tx.Rollback()
}
