package prepared

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	// StatementsKept is the maximum number of statements that a connection keeps
	// prepared. Servers bound the prepared statements of all connections: MySQL to 16,382.
	StatementsKept = 128
	// maxPrepared is the maximum length in bytes of a statement to prepare. Longer
	// statements contain lists, and are seldom repeated.
	maxPrepared = 4 << 10
)

// Connector returns a connector for the connections of a store. They prepare the
// statements that they run more than once. A Reader can set a deadline for the
// statements of those that Dial made.
func Connector(c driver.Connector) driver.Connector { return preparing{bounding{c}} }

// preparing is a connector whose connections prepare the statements that they run more
// than once, so that the database does not parse and plan them every time. It works
// below database/sql, and so applies to every statement, in a transaction or not.
type preparing struct{ driver.Connector }

// unpreparedKey is the context key of the *bool that RunUnprepared sets.
type unpreparedKey struct{}

// RunUnprepared keeps the connection that is being opened with ctx from preparing statements.
// It is for connectors below a Connector.
func RunUnprepared(ctx context.Context) {
	if unprepared, ok := ctx.Value(unpreparedKey{}).(*bool); ok {
		*unprepared = true
	}
}

// Connect opens a connection.
func (p preparing) Connect(ctx context.Context) (driver.Conn, error) {
	unprepared := false
	c, err := p.Connector.Connect(context.WithValue(ctx, unpreparedKey{}, &unprepared))
	if err != nil {
		return nil, err
	}
	inner, ok := c.(Conn)
	if !ok {
		_ = c.Close()
		return nil, fmt.Errorf("a %T does not have the methods of a store's connection", c)
	}
	// NewLRU fails only for a size below 1.
	kept, _ := simplelru.NewLRU(StatementsKept, func(_ string, s *keptStatement) {
		if s.statement != nil {
			_ = s.Close()
		}
	})
	return &preparingConn{Conn: inner, kept: kept, isUnprepared: unprepared}, nil
}

// Conn is the set of interfaces that the drivers' connections implement.
type Conn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// statement is the set of interfaces that the drivers' statements implement.
type statement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// keptStatement is a statement that a connection keeps. After its first run, statement
// is nil: only its text is known.
type keptStatement struct {
	statement
	columns int  // number of result columns; 0: not known yet
	refused bool // the statement cannot be prepared on this connection
}

// preparingConn is a connection with its prepared statements. No statement runs while
// the rows of an earlier one are being read: the MySQL protocol does not allow it.
type preparingConn struct {
	Conn
	kept         *simplelru.LRU[string, *keptStatement]
	isUnprepared bool // see RunUnprepared
}

// prepared returns the prepared statement for a text. It returns nil if the caller must
// run the text unprepared.
func (c *preparingConn) prepared(ctx context.Context, text string) (*keptStatement, error) {
	if len(text) > maxPrepared || c.isUnprepared {
		return nil, nil //nolint:nilnil // run unprepared
	}
	s, seen := c.kept.Get(text)
	if !seen {
		c.kept.Add(text, &keptStatement{})
		return nil, nil //nolint:nilnil // run unprepared
	}
	if s.statement != nil {
		return s, nil
	}
	if s.refused {
		return nil, nil //nolint:nilnil // run unprepared
	}
	made, err := c.PrepareContext(ctx, text)
	if err != nil {
		if s.refused = isUnpreparable(err); s.refused {
			return nil, nil //nolint:nilnil // run unprepared
		}
		return nil, err
	}
	var ok bool
	if s.statement, ok = made.(statement); !ok {
		_ = made.Close()
		return nil, nil //nolint:nilnil // run unprepared
	}
	return s, nil
}

// isUnpreparable reports whether a statement runs unprepared after PREPARE has failed: the
// server does not support it, or has too many prepared statements. After any other error,
// such as a conflict with another node of a Galera cluster, the server may have rolled back
// the transaction. The statement would then be committed alone.
func isUnpreparable(err error) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && (e.Number == 1295 || e.Number == 1461)
}

// QueryContext runs a statement that returns rows.
func (c *preparingConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	rows, _, err := c.query(ctx, text, args)
	return rows, err
}

// query is QueryContext, and also returns the number of columns.
func (c *preparingConn) query(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, int, error) {
	s, err := c.prepared(ctx, text)
	if err != nil {
		return nil, 0, err
	}
	if s == nil {
		rows, err := c.Conn.QueryContext(ctx, text, args)
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

// ExecContext runs a statement that returns no rows.
func (c *preparingConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.prepared(ctx, text)
	switch {
	case err != nil:
		return nil, err
	case s != nil:
		return s.ExecContext(ctx, args)
	}
	return c.Conn.ExecContext(ctx, text, args)
}

// CheckNamedValue lets the driver convert an argument, if the driver supports it.
func (c *preparingConn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.Conn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// Close closes the connection and its statements.
func (c *preparingConn) Close() error {
	c.kept.Purge()
	return c.Conn.Close()
}
