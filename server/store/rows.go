package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/uid"
)

// maxConnectionTries is the maximum number of connections to try when connections turn
// out to be broken, as in database/sql.
const maxConnectionTries = 3

// Each runs a statement outside a transaction and passes every row to each as the driver
// returns it. It is meant for the most frequent reads: it does what QueryEach does
// without the cost of database/sql's rows, which is a goroutine for each statement and
// the inspection of the types of every value and its destination. On a database server
// a call may share its statement with similar calls, as a part of a UNION (see lanes).
// The statement must therefore be one SELECT of columns, without DISTINCT; if it has an
// ORDER BY, that must have a LIMIT and not refer to columns by number.
func (s *Store) Each(ctx context.Context, query string, args []any, each func(*Row) error) error {
	return s.read(ctx, query, args, false, each)
}

func (s *Store) read(ctx context.Context, query string, args []any, mayRepeat bool, each func(*Row) error) error {
	named, err := namedValues(args)
	if err != nil {
		return err
	}
	if _, isBounded := ctx.Deadline(); isBounded && !s.IsEmbedded() {
		err = s.eachInLane(ctx, query, named, mayRepeat, each)
	} else {
		_, err = s.eachAlone(ctx, query, named, each)
	}
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	return nil
}

// eachAlone runs a statement of its own for Each. It returns how long the statement took
// once it had a connection.
func (s *Store) eachAlone(ctx context.Context, query string, args []driver.NamedValue, each func(*Row) error) (took time.Duration, err error) {
	row := Row{}
	for range maxConnectionTries {
		if err = s.eachOnce(ctx, query, args, &row, each); !errors.Is(err, driver.ErrBadConn) || row.count > 0 {
			break
		}
	}
	return row.took, err
}

func (s *Store) eachOnce(ctx context.Context, query string, args []driver.NamedValue, row *Row, each func(*Row) error) error {
	conn, err := s.readDB.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return conn.Raw(func(c any) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		started := time.Now()
		defer func() { row.took = time.Since(started) }()
		within, finish := s.withoutWatching(ctx, c)
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

// withoutWatching returns the context in which the driver runs a statement of Each. If
// possible the context never ends: a driver would start a goroutine to watch it, which
// costs more than reading a row by an index. Instead readAll checks ctx between rows. A
// client that disconnects therefore does not interrupt a running statement. The
// deadline of the call does so on a database server, but not on SQLite: the sums that
// Each reads are compacted and swept, and cover few rows.
func (s *Store) withoutWatching(ctx context.Context, c any) (within context.Context, finish func()) {
	finish = func() {}
	if s.IsEmbedded() {
		return context.WithoutCancel(ctx), finish
	}
	deadline, hasDeadline := ctx.Deadline()
	if p, ok := c.(*preparingConn); ok && hasDeadline {
		if b, ok := p.connection.(*boundedConn); ok {
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
	q, ok := c.(driver.QueryerContext) // a connection of a Layer
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

// Row is a row that Each reads. Its methods read the columns in order. If a column does
// not have the requested type, Each returns an error.
type Row struct {
	values []driver.Value
	at     int
	count  int
	err    error
	took   time.Duration
}

func (r *Row) readAll(ctx context.Context, rows driver.Rows, columns int, each func(*Row) error) error {
	if len(r.values) != columns {
		r.values = make([]driver.Value, columns)
	}
	for {
		err := rows.Next(r.values)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		r.at = 0
		r.count++
		if err := each(r); err != nil {
			return err
		}
		if r.err != nil {
			return r.err
		}
	}
}

func (r *Row) next() driver.Value {
	v := r.values[r.at]
	r.at++
	return v
}

func (r *Row) fail(v driver.Value, want string) {
	r.err = fmt.Errorf("column %d is a %T, which is no %s", r.at, v, want)
}

// ID reads an id.
func (r *Row) ID() (id uid.ID) {
	v := r.next()
	if id.Scan(v) != nil {
		r.fail(v, "id")
	}
	return id
}

// Text reads a text.
func (r *Row) Text() string {
	switch v := r.next().(type) {
	case string:
		return v
	case []byte:
		return string(v)
	default:
		r.fail(v, "text")
		return ""
	}
}

// Int reads an integer.
func (r *Row) Int() int64 {
	v := r.next()
	n, ok := integer(v)
	if !ok {
		r.fail(v, "integer")
	}
	return n
}

// OptionalInt reads an integer; it returns nil for NULL.
func (r *Row) OptionalInt() *int64 {
	v := r.next()
	if v == nil {
		return nil
	}
	n, ok := integer(v)
	if !ok {
		r.fail(v, "integer")
	}
	return &n
}

func integer(v driver.Value) (n int64, ok bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case bool: // SQLite's driver returns boolean columns so
		if v {
			n = 1
		}
		return n, true
	case []byte: // MySQL returns sums so, which are decimals there
		n, err := strconv.ParseInt(string(v), 10, 64)
		return n, err == nil
	}
	return 0, false
}

// Bool reads a boolean.
func (r *Row) Bool() bool { return r.Int() != 0 }

// Instant reads an instant.
func (r *Row) Instant() instant.Instant { return instant.Instant(r.Int()) }

// OptionalInstant reads an instant; it returns nil for NULL.
func (r *Row) OptionalInstant() *instant.Instant { return (*instant.Instant)(r.OptionalInt()) }

// One is Each for a statement that returns one row. It may call read again when it
// repeats the statement. If there is no row, One returns ErrNoRows.
func (s *Store) One(ctx context.Context, query string, args []any, read func(*Row)) error {
	found := false
	err := s.read(ctx, query, args, true, func(r *Row) error {
		found = true
		read(r)
		return nil
	})
	if err == nil && !found {
		return ErrNoRows
	}
	return err
}
