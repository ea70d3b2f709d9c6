package prepared

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
)

// Row is a row that a Reader reads. Its methods read the columns in order. If a column
// does not have the requested type, the Reader returns an error.
type Row struct {
	values []driver.Value
	at     int
	count  int
	err    error
}

// nexter returns one row after the other, and then io.EOF.
type nexter interface {
	Next(values []driver.Value) error
}

func (r *Row) readAll(ctx context.Context, rows nexter, columns int, each func(*Row) error) error {
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

// OptionalID reads an id; it returns nil for NULL.
func (r *Row) OptionalID() *uid.ID {
	if r.values[r.at] == nil {
		r.at++
		return nil
	}
	id := r.ID()
	return &id
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
