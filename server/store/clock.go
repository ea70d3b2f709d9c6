package store

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/moderato-live/moderato/internal/instant"
)

// Clock is the clock of the database, which all servers share. Every decision in
// Moderato that depends on the time of day uses it.
type Clock struct {
	sql    string
	offset atomic.Int64
	frozen atomic.Int64
}

// SQL returns an expression for the database's time, to be selected together with
// other columns. The caller must convert its value with At before using it.
func (c *Clock) SQL() string { return c.sql }

// Expression returns an expression for the result of At on SQL, with its arguments,
// for use in conditions.
func (c *Clock) Expression() (sql string, args []any) {
	if at := c.frozen.Load(); at != 0 {
		return "?", []any{at}
	}
	if offset := c.offset.Load(); offset != 0 {
		return "(" + c.sql + " + ?)", []any{offset}
	}
	return c.sql, nil
}

// Present returns an expression for the result of At on SQL, which has no arguments. It is
// for conditions that become part of statements with arguments of their own.
func (c *Clock) Present() string {
	if at := c.frozen.Load(); at != 0 {
		return strconv.FormatInt(at, 10)
	}
	if offset := c.offset.Load(); offset != 0 {
		return "(" + c.sql + " + " + strconv.FormatInt(offset, 10) + ")"
	}
	return c.sql
}

// At returns the instant for a value of the SQL expression.
func (c *Clock) At(value int64) instant.Instant {
	if at := c.frozen.Load(); at != 0 {
		return instant.Instant(at)
	}
	return instant.Instant(value + c.offset.Load())
}

// Now queries the database's time.
func (c *Clock) Now(ctx context.Context, q Queryer) (instant.Instant, error) {
	var value int64
	err := QueryRow(ctx, q, "SELECT "+c.sql, nil, &value)
	return c.At(value), err
}

// Local returns the time of this process, with the same offset. It serves to compute
// the age of data read from the database. It must not be used for a decision on which
// several servers have to agree.
func (c *Clock) Local() instant.Instant { return c.At(time.Now().UnixMilli()) }

// Advance moves the clock forward by d; tests use it instead of waiting.
func (c *Clock) Advance(d time.Duration) { c.offset.Add(d.Milliseconds()) }

// Freeze stops the clock at an instant, for tests of the behaviour at exactly that
// instant; 0 lets the clock run again.
func (c *Clock) Freeze(at instant.Instant) { c.frozen.Store(int64(at)) }
