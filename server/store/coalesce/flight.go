package coalesce

import (
	"context"
	"database/sql/driver"
	"fmt"
	"iter"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// flight is the execution of a statement for the reads of some batches.
type flight struct {
	queue   *queue
	query   string
	batches []*batch
	reads   atomic.Int32 // reads that have not left
	cancel  context.CancelFunc
}

// read is a waiting call.
type read struct {
	deadline time.Time
	each     func(*Row) error

	flight    *flight       // nil before the read is sent, and for a read that must run alone
	alone     bool          // the read must run its own statement
	done      chan struct{} // closed when the read has finished, or must run alone
	flightErr error         // error of the coalesced statement

	mu   sync.Mutex // held while a row is delivered, and to leave
	left bool       // the caller has stopped waiting
	row  Row

	panicked any // the panic of each, with its stack
}

// all returns an iterator over the reads of a flight.
func (f *flight) all() iter.Seq[*read] {
	return func(yield func(*read) bool) {
		for _, b := range f.batches {
			for _, r := range b.reads {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// fly runs the statement of a flight and completes its reads.
func (c *coalescer) fly(ctx context.Context, f *flight) {
	defer f.cancel()
	took, err := c.readBatches(ctx, f)
	remaining := f.reads.Load()
	if err == nil {
		c.coalesced.Add(float64(remaining))
	}
	for r := range f.all() {
		r.flightErr = err
		close(r.done)
	}
	c.finished(f.queue, took > c.slow || err != nil && remaining > 0)
}

func (c *coalescer) readBatches(ctx context.Context, f *flight) (took time.Duration, err error) {
	defer func() {
		// Nothing else recovers a panic in this goroutine. A read that is retried alone
		// panics again, in the goroutine of its caller.
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v", reason)
		}
	}()
	if len(f.batches) == 1 {
		return c.run(ctx, f.query, f.batches[0].args, f.batches[0].deliver)
	}
	var args []driver.NamedValue
	for _, b := range f.batches {
		args = append(args, b.args...)
	}
	for i := range args {
		args[i].Ordinal = i + 1
	}
	return c.run(ctx, f.query, args, func(row *Row) error {
		return f.batches[row.Int()].deliver(row)
	})
}

// deliver passes a row to every read of a batch.
func (b *batch) deliver(row *Row) error {
	for _, r := range b.reads {
		r.receive(row.values, row.at)
	}
	return nil
}

func (r *read) receive(values []driver.Value, at int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left || r.panicked != nil || r.row.err != nil {
		return
	}
	defer func() {
		if reason := recover(); reason != nil {
			r.panicked = fmt.Sprintf("%v\n%s", reason, debug.Stack()) // raised again in the caller's goroutine
		}
	}()
	r.row.values, r.row.at = values, at
	r.row.count++
	if err := r.each(&r.row); err != nil {
		r.row.err = err
	}
}
