package store

import (
	"context"
	"database/sql/driver"
	"fmt"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	// statementsKept is how many statements a connection keeps prepared, of which
	// one that reads share is up to four. The servers bound their number over all
	// connections: MySQL at 16,382.
	statementsKept = 128
	// maxPrepared is how long a statement may be to be prepared: longer ones have
	// lists in them that are seldom the same again.
	maxPrepared = 4 << 10
	// maxShared is the same for one that reads share, which are the same again.
	maxShared = 16 << 10
)

// preparing makes connections that prepare the statements which they run more
// than once, so that the store parses and plans these but the first time. It is
// below database/sql, where it serves every statement, in a transaction or not.
type preparing struct{ driver.Connector }

// Connect makes a connection.
func (p preparing) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := p.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	inner, ok := c.(connection)
	if !ok {
		_ = c.Close()
		return nil, fmt.Errorf("a %T lacks what a connection of a store needs", c)
	}
	// It fails only for a size below 1.
	kept, _ := simplelru.NewLRU(statementsKept, func(_ string, s *keptStatement) {
		if s.statement != nil {
			_ = s.Close()
		}
	})
	return &preparingConn{connection: inner, kept: kept}, nil
}

// connection is what the drivers' connections are.
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

// statement is what the drivers' statements are.
type statement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// keptStatement is a statement that a connection keeps; of one that was run once
// there is only the text.
type keptStatement struct {
	statement
	columns int  // 0: not known yet
	refused bool // it cannot be prepared on this connection
}

// preparingConn is a connection with the statements that it keeps. No statement is
// run while the rows of an earlier one are read: the protocol of MySQL has no place
// for it.
type preparingConn struct {
	connection
	kept *simplelru.LRU[string, *keptStatement]
}

// prepared is the statement for a text; nil when it is to be run as a text, as one
// that is longer than most is.
func (c *preparingConn) prepared(ctx context.Context, text string, most int) *keptStatement {
	if len(text) > most {
		return nil
	}
	s, seen := c.kept.Get(text)
	if !seen {
		c.kept.Add(text, &keptStatement{})
		return nil
	}
	if s.statement != nil {
		return s
	}
	if s.refused {
		return nil
	}
	// What cannot be prepared, because the server has too many already or does
	// not take it so, is run as a text, and fails there if it must.
	made, err := c.PrepareContext(ctx, text)
	if err != nil {
		s.refused = ctx.Err() == nil
		return nil
	}
	var ok bool
	if s.statement, ok = made.(statement); !ok {
		_ = made.Close()
		return nil
	}
	return s
}

// QueryContext runs a statement that yields rows.
func (c *preparingConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	if s := c.prepared(ctx, text, maxPrepared); s != nil {
		return s.QueryContext(ctx, args)
	}
	return c.connection.QueryContext(ctx, text, args)
}

// query is QueryContext for Each, and tells how many columns the rows have.
func (c *preparingConn) query(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, int, error) {
	s := c.prepared(ctx, text, maxShared)
	if s == nil {
		rows, err := c.connection.QueryContext(ctx, text, args)
		if err != nil {
			return nil, 0, err
		}
		return rows, len(rows.Columns()), nil
	}
	rows, err := s.QueryContext(ctx, args)
	if err == nil && s.columns == 0 {
		s.columns = len(rows.Columns())
	}
	return rows, s.columns, err
}

// ExecContext runs a statement that yields none.
func (c *preparingConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	if s := c.prepared(ctx, text, maxPrepared); s != nil {
		return s.ExecContext(ctx, args)
	}
	return c.connection.ExecContext(ctx, text, args)
}

// CheckNamedValue has the driver convert an argument, if it does.
func (c *preparingConn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.connection.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// Close ends the connection and its statements.
func (c *preparingConn) Close() error {
	c.kept.Purge()
	return c.connection.Close()
}
