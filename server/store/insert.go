package store

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/server/store/coalesce"
	"github.com/moderato-live/moderato/server/uid"
)

const (
	// freeInserts is how many statements may be in flight before further inserts wait.
	freeInserts = 4
	// maxInserts is how many inserts share a statement at most.
	maxInserts = 16
	// maxInsertDelay is how long an insert waits before it runs regardless: the statements
	// in flight may hang.
	maxInsertDelay = 20 * time.Millisecond
)

// Insert is a statement that inserts at most one row.
type Insert struct {
	// Into is the beginning of the statement, with the table and its columns.
	Into string
	// Select is the SELECT of the row, with its arguments.
	Select string
	Args   []any
	// ChannelID is the channel of the row. Only inserts of one channel share a statement.
	ChannelID uid.ID
}

// inserts lets concurrent inserts share statements: most of the cost of a small insert is
// its round trip to the database server and its commit. Once freeInserts statements are in
// flight, new inserts wait until one of them returns, or until maxInsertDelay has passed.
// Those of one channel are then sent as one statement. An uncontended insert runs immediately.
type inserts struct {
	// exec executes a statement, and returns the number of rows, and whether it is unknown. Its
	// error means that the statement was not sent.
	exec func(ctx context.Context, query string, args []any) (rows int64, isUnknown bool, err error)
	// joined counts the inserts that share the statement of another one.
	joined prometheus.Counter

	mu      sync.Mutex
	flights int
	waiting []*waitingInsert
}

// waitingInsert is an insert whose caller waits.
type waitingInsert struct {
	Insert

	deadline time.Time
	done     chan struct{} // closed when the fields below are set

	rows      int64
	isUnknown bool
	err       error
}

// run executes an insert, and returns how many rows it inserted, and whether only the database
// knows that. Its error means that nothing was sent.
func (q *inserts) run(ctx context.Context, in Insert) (rows int64, isUnknown bool, err error) {
	w := q.enter(ctx, in)
	if w == nil {
		defer q.finished()
		return q.exec(ctx, in.Into+in.Select, in.Args)
	}
	late := time.NewTimer(maxInsertDelay)
	defer late.Stop()
	for {
		select {
		case <-w.done:
			return w.rows, w.isUnknown, w.err
		case <-late.C:
			q.sendWith(w)
		case <-ctx.Done():
			return 0, true, nil
		}
	}
}

// enter returns nil if the caller must execute its insert, and call finished.
func (q *inserts) enter(ctx context.Context, in Insert) *waitingInsert {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.flights < freeInserts {
		q.flights++
		return nil
	}
	w := &waitingInsert{Insert: in, done: make(chan struct{})}
	w.deadline, _ = ctx.Deadline()
	q.waiting = append(q.waiting, w)
	return w
}

// finished ends a statement, and sends waiting inserts in its place.
func (q *inserts) finished() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.flights--
	if len(q.waiting) > 0 && q.flights < freeInserts {
		q.send(q.waiting[0])
	}
}

// sendWith sends an insert if it still waits.
func (q *inserts) sendWith(w *waitingInsert) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, other := range q.waiting {
		if other == w {
			q.send(w)
			return
		}
	}
}

// send sends an insert together with others of its channel.
func (q *inserts) send(first *waitingInsert) {
	var sent, left []*waitingInsert
	for _, w := range q.waiting {
		if w.ChannelID == first.ChannelID && w.Into == first.Into && len(sent) < maxInserts || w == first {
			sent = append(sent, w)
		} else {
			left = append(left, w)
		}
	}
	q.waiting = left
	q.flights++
	go q.fly(sent)
}

// fly executes the statement of some inserts, until the latest of their deadlines. The
// statement is sent as text: the database would give the parameters of a prepared one the
// types of the first row.
func (q *inserts) fly(sent []*waitingInsert) {
	defer q.finished()
	ctx := coalesce.AsText(context.Background())
	var selects []string
	var args []any
	var deadline time.Time
	for _, w := range sent {
		selects, args = append(selects, w.Select), append(args, w.Args...)
		if w.deadline.After(deadline) {
			deadline = w.deadline
		}
	}
	if !deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
	}
	q.joined.Add(float64(len(sent) - 1))
	rows, isUnknown, err := q.exec(ctx, sent[0].Into+strings.Join(selects, " UNION ALL "), args)
	for _, w := range sent {
		w.isUnknown, w.err = isUnknown, err
		switch {
		case rows == int64(len(sent)):
			w.rows = 1
		case rows > 0: // some callers may not insert their rows any more
			w.isUnknown = true
		}
		close(w.done)
	}
}
