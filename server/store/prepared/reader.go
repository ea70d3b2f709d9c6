// Package prepared runs the statements of a store with little cost for each of them. The
// connections of Connector prepare the statements that they run more than once. A Reader
// passes rows on as the driver returns them, and sets the deadline of a call on the network
// connection.
package prepared

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"time"
)

// maxConnectionTries is the maximum number of connections to try when connections turn
// out to be broken, as in database/sql.
const maxConnectionTries = 3

// Reader reads rows outside transactions, without the cost of database/sql's rows: a
// goroutine for each statement, and the inspection of the types of every value and its
// destination.
type Reader struct {
	// DB is the database, which should have been opened with a Connector.
	DB *sql.DB
	// In is the transaction that the rows are read in, if any, instead of DB. The rows then
	// come from database/sql.
	In interface {
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	}
	// IgnoreDeadlines runs each statement to its end. It is meant for an embedded
	// database, which has no network connection on which to set a deadline.
	IgnoreDeadlines bool
}

// One is Each for a query that returns one row. If there is no row, One returns
// sql.ErrNoRows.
func (r *Reader) One(ctx context.Context, query string, args []any, read func(*Row)) error {
	found := false
	err := r.Each(ctx, query, args, func(row *Row) error {
		found = true
		read(row)
		return nil
	})
	if err == nil && !found {
		return sql.ErrNoRows
	}
	return err
}

// Each runs a query and passes every row to each.
func (r *Reader) Each(ctx context.Context, query string, args []any, each func(*Row) error) error {
	if r.In != nil {
		return r.eachIn(ctx, query, args, each)
	}
	named, err := namedValues(args)
	if err != nil {
		return err
	}
	row := Row{}
	for range maxConnectionTries {
		if err = r.run(ctx, query, named, &row, each); !errors.Is(err, driver.ErrBadConn) || row.count > 0 {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	return nil
}

// eachIn is Each in a transaction.
func (r *Reader) eachIn(ctx context.Context, query string, args []any, each func(*Row) error) error {
	rows, err := r.In.QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	err = new(Row).readAll(ctx, scanned{rows}, len(columns), each)
	if err = cmp.Or(err, rows.Err()); err != nil {
		return fmt.Errorf("query: %w", err)
	}
	return nil
}

// scanned are rows of database/sql as a driver returns them.
type scanned struct{ *sql.Rows }

func (s scanned) Next(values []driver.Value) error {
	if !s.Rows.Next() {
		return cmp.Or(s.Err(), io.EOF)
	}
	columns := make([]any, len(values))
	for i := range values {
		columns[i] = (*any)(&values[i])
	}
	return s.Scan(columns...)
}

func (r *Reader) run(ctx context.Context, query string, args []driver.NamedValue, row *Row, each func(*Row) error) error {
	conn, err := r.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return conn.Raw(func(c any) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		within, finish := r.withoutWatching(ctx, c)
		defer finish()
		rows, columns, err := queryOn(within, c, query, args)
		if err != nil {
			return ended(ctx, err)
		}
		err = row.readAll(ctx, rows, columns, each)
		if closed := rows.Close(); err == nil {
			err = closed
		}
		return ended(ctx, err)
	})
}

// withoutWatching returns the context in which the driver runs a statement. If possible
// the context never ends: a driver would start a goroutine to watch it, which costs more
// than reading a row by an index. Instead readAll checks ctx between rows. A client that
// disconnects therefore does not interrupt a running statement. The deadline of the call
// does so on a database server, but not on SQLite: the sums that a Reader reads there are
// compacted and swept, and cover few rows.
func (r *Reader) withoutWatching(ctx context.Context, c any) (within context.Context, finish func()) {
	finish = func() {}
	if r.IgnoreDeadlines {
		return context.WithoutCancel(ctx), finish
	}
	deadline, hasDeadline := ctx.Deadline()
	if p, ok := c.(*preparingConn); ok && hasDeadline {
		if b, ok := p.Conn.(*boundedConn); ok {
			b.endAt(deadline)
			return context.WithoutCancel(ctx), func() { b.endAt(time.Time{}) }
		}
	}
	return ctx, finish
}

// ended returns err, or context.DeadlineExceeded if a statement failed after the
// deadline of its call.
func ended(ctx context.Context, err error) error {
	if deadline, ok := ctx.Deadline(); ok && err != nil && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return err
}

// queryOn runs a statement on a driver connection, and also returns the number of
// columns.
func queryOn(ctx context.Context, c any, query string, args []driver.NamedValue) (driver.Rows, int, error) {
	if p, ok := c.(*preparingConn); ok {
		return p.query(ctx, query, args)
	}
	q, ok := c.(driver.QueryerContext) // a connection of another connector around ours
	if !ok {
		return nil, 0, fmt.Errorf("a %T runs no statements", c)
	}
	rows, err := q.QueryContext(ctx, query, args)
	if err != nil {
		return nil, 0, err
	}
	return rows, len(rows.Columns()), nil
}

func namedValues(args []any) ([]driver.NamedValue, error) {
	named := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		value, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			return nil, fmt.Errorf("argument %d: %w", i+1, err)
		}
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: value}
	}
	return named, nil
}
