package coalesce

import (
	"context"
	"database/sql/driver"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/prometheus/client_golang/prometheus"
)

const (
	// queuesKept is the maximum number of queries that have a queue.
	queuesKept = 256
	// freeFlights is the number of executions of a query that may be in flight before
	// further reads wait.
	freeFlights = 4
	// maxBatches is the maximum number of batches in one statement, a power of two.
	maxBatches = 8
	// maxDelay is how long a read waits before its statement is sent regardless: the
	// executions in flight may hang.
	maxDelay = 20 * time.Millisecond
	// slow is the longest time that a statement may take for its query to be coalesced,
	// and the least time that a call must have left to be coalesced.
	slow = time.Second
	// cooldown is how long a query is not coalesced after a statement was slow or failed.
	cooldown = time.Second
)

// coalescer coalesces concurrent reads of the same query, each with its own arguments:
// most of the cost of a small read is the round trip to the database server. Once
// freeFlights executions of a query are in flight, new reads wait until one of them
// returns, until enough reads wait to fill a statement, or until maxDelay has passed.
// Waiting reads are sent as one UNION ALL. Reads with equal arguments form a batch, which
// is one part of it. A read never joins a statement that was already sent, so no result
// is older than its request. An uncontended read runs immediately.
type coalescer struct {
	maxDelay, slow time.Duration

	run       runFunc
	waiting   prometheus.Gauge
	coalesced prometheus.Counter

	mu      sync.Mutex // also guards the contents of the queues
	byQuery *simplelru.LRU[string, *queue]
}

// runFunc runs a statement of its own, and returns how long it took.
type runFunc func(ctx context.Context, query string, args []driver.NamedValue, each func(*Row) error) (took time.Duration, err error)

// queue holds the waiting reads of one query. An evicted queue still serves its reads.
type queue struct {
	err        error          // why the query is refused, from Verify
	unions     map[int]string // statements by their number of batches
	most       int            // maximum number of batches of a statement
	flights    int            // executions in flight
	aloneUntil time.Time      // no read is coalesced before this time
	waiting    []*batch
}

// batch holds reads with equal arguments.
type batch struct {
	args  []driver.NamedValue
	reads []*read
}

func newCoalescer(run runFunc) *coalescer {
	byQuery, _ := simplelru.NewLRU[string, *queue](queuesKept, nil) // fails only for a size below 1
	return &coalescer{
		maxDelay: maxDelay, slow: slow, run: run,
		byQuery: byQuery,
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "moderato_reads_waiting",
			Help: "Reads waiting for a coalesced query or for a free flight.",
		}),
		coalesced: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "moderato_reads_coalesced_total",
			Help: "Reads served by a coalesced query.",
		}),
	}
}

// read runs a query for a call with a deadline, and may coalesce it. When a coalesced
// query fails, read runs the query alone if each has received no row yet, or if
// mayRepeat.
func (c *coalescer) read(ctx context.Context, query string, args []driver.NamedValue, mayRepeat bool, each func(*Row) error) error {
	q, r := c.enter(ctx, query, args, each)
	if q.err != nil {
		return q.err
	}
	if r != nil && !c.wait(ctx, q, r) {
		return ctx.Err()
	}
	switch {
	case r == nil || r.alone:
		var took time.Duration
		defer func() { c.finished(q, took > c.slow) }()
		took, err := c.run(ctx, query, args, each)
		return err
	case r.panicked != nil:
		panic(r.panicked)
	case r.row.err != nil:
		return r.row.err
	case r.flightErr != nil && (r.row.count == 0 || mayRepeat):
		// The failure may come from another batch.
		_, err := c.run(ctx, query, args, each)
		return err
	}
	return r.flightErr
}

// enter returns the queue of a query, and the read that it added to the queue; the read
// is nil if the query is refused or the caller must run its statement immediately.
func (c *coalescer) enter(ctx context.Context, query string, args []driver.NamedValue, each func(*Row) error) (*queue, *read) {
	c.mu.Lock()
	defer c.mu.Unlock()
	q, ok := c.byQuery.Get(query)
	if !ok {
		q = newQueue(query)
		c.byQuery.Add(query, q)
	}
	if q.err != nil {
		return q, nil
	}
	deadline, _ := ctx.Deadline()
	now := time.Now()
	if q.flights < freeFlights || q.most == 1 || now.Before(q.aloneUntil) || deadline.Sub(now) < c.slow {
		q.flights++
		return q, nil
	}
	r := &read{deadline: deadline, each: each, done: make(chan struct{})}
	q.add(r, args)
	if len(q.waiting) == q.most {
		q.flights++
		c.send(q)
	}
	return q, r
}

func newQueue(query string) *queue {
	q := &queue{err: Verify(query), unions: map[int]string{1: query}, most: 1}
	for n := 2; q.err == nil && n <= maxBatches; n *= 2 {
		u := union(query, n)
		if len(u) > maxUnion {
			break
		}
		q.unions[n], q.most = u, n
	}
	return q
}

func (q *queue) add(r *read, args []driver.NamedValue) {
	for _, b := range q.waiting {
		if reflect.DeepEqual(b.args, args) {
			b.reads = append(b.reads, r)
			return
		}
	}
	q.waiting = append(q.waiting, &batch{args, []*read{r}})
}

// wait waits until a read has finished or must run alone. It returns false if ctx ends
// first.
func (c *coalescer) wait(ctx context.Context, q *queue, r *read) bool {
	c.waiting.Inc()
	defer c.waiting.Dec()
	late := time.NewTimer(c.maxDelay)
	defer late.Stop()
	for {
		select {
		case <-r.done:
			return true
		case <-late.C:
			c.sendUntil(q, r)
		case <-ctx.Done():
			if c.leave(q, r) {
				return false
			}
			<-r.done
			return true
		}
	}
}

// sendUntil sends waiting reads until r is sent, regardless of the executions in flight.
func (c *coalescer) sendUntil(q *queue, r *read) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for r.flight == nil && !r.alone {
		q.flights++
		c.send(q)
	}
}

// leave removes a cancelled read, so that it receives no further row. It returns false,
// and the read stays, if the read was already told to run alone: its place among the
// executions in flight must be passed on.
func (c *coalescer) leave(q *queue, r *read) bool {
	if !c.remove(q, r) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = true
	return true
}

func (c *coalescer) remove(q *queue, r *read) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := r.flight; f != nil {
		if f.reads.Add(-1) == 0 {
			f.cancel()
		}
		return true
	}
	for _, b := range q.waiting {
		b.reads = slices.DeleteFunc(b.reads, func(other *read) bool { return other == r })
	}
	q.waiting = slices.DeleteFunc(q.waiting, func(b *batch) bool { return len(b.reads) == 0 })
	return !r.alone
}

// finished ends an execution, and sends waiting reads in its place.
func (c *coalescer) finished(q *queue, hadTrouble bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if hadTrouble {
		q.aloneUntil = time.Now().Add(cooldown)
	}
	if len(q.waiting) == 0 || q.flights > freeFlights {
		q.flights--
		return
	}
	c.send(q)
}

// send sends the reads that have waited longest. The number of batches is a power of two,
// to keep the number of different prepared statements small.
func (c *coalescer) send(q *queue) {
	n := q.most
	for n > len(q.waiting) {
		n /= 2
	}
	batches := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	if first := batches[0].reads; n == 1 && len(first) == 1 {
		first[0].alone = true
		close(first[0].done)
		return
	}
	f := &flight{queue: q, query: q.unions[n], batches: batches}
	var deadline time.Time // the latest of the reads
	for r := range f.all() {
		r.flight = f
		f.reads.Add(1)
		if r.deadline.After(deadline) {
			deadline = r.deadline
		}
	}
	var ctx context.Context
	ctx, f.cancel = context.WithDeadline(context.Background(), deadline)
	go c.fly(ctx, f)
}
