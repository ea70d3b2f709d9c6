package store

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/moderato-live/moderato/server/instant"
)

// Clock tells the time of the database, which is the same for every server.
// Nothing else in Moderato decides by the time of day.
type Clock struct {
	sql    string
	offset atomic.Int64
	frozen atomic.Int64
}

// SQL is an expression for the database's time, to be read together with other
// columns. What it yields goes through At before it is used.
func (c *Clock) SQL() string { return c.sql }

// Expression is an expression for what At makes of SQL, with its arguments: for
// conditions.
func (c *Clock) Expression() (sql string, args []any) {
	if at := c.frozen.Load(); at != 0 {
		return "?", []any{at}
	}
	if offset := c.offset.Load(); offset != 0 {
		return "(" + c.sql + " + ?)", []any{offset}
	}
	return c.sql, nil
}

// At is the instant for a value that SQL yielded.
func (c *Clock) At(value int64) instant.Instant {
	if at := c.frozen.Load(); at != 0 {
		return instant.Instant(at)
	}
	return instant.Instant(value + c.offset.Load())
}

// Now asks the database for its time.
func (c *Clock) Now(ctx context.Context, q Queryer) (instant.Instant, error) {
	var value int64
	err := QueryRow(ctx, q, "SELECT "+c.sql, nil, &value)
	return c.At(value), err
}

// Local is this process's time, on the same offset: for the age of what was
// read from the database, never for a decision that others must share.
func (c *Clock) Local() instant.Instant { return c.At(time.Now().UnixMilli()) }

// Advance moves the clock; tests use it instead of waiting.
func (c *Clock) Advance(d time.Duration) { c.offset.Add(d.Milliseconds()) }

// Freeze stops the clock at an instant, for tests of what happens just then; 0
// lets it run again.
func (c *Clock) Freeze(at instant.Instant) { c.frozen.Store(int64(at)) }
