package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"iter"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/prometheus/client_golang/prometheus"
)

const (
	// lanesKept is the maximum number of statement texts that have a lane.
	lanesKept = 256
	// freeTrips is the number of executions of a text that may be in flight before
	// further reads wait.
	freeTrips = 4
	// maxParts is the maximum number of different reads in one statement, a power of
	// two.
	maxParts = 8
	// patience is how long a read waits before its statement is sent regardless: the
	// executions in flight may hang.
	patience = 20 * time.Millisecond
	// slow is the longest time that a statement may take for its reads to share, and
	// the least time that a call must have left to share.
	slow = time.Second
	// pause is how long reads of a text do not share after a statement was slow or
	// failed.
	pause = time.Second
)

// lanes batches concurrent reads that run the same statement text, each with its own
// arguments: most of the cost of a small read is the round trip to the database server.
// Once freeTrips executions of a text are in flight, new reads wait until one of them
// returns, until enough reads wait to fill a statement, or until patience has passed.
// Waiting reads are sent as one UNION ALL, and reads with equal arguments share one part
// of it. A read never joins a statement that was already sent, so no result is older
// than its request. An uncontended read runs immediately.
type lanes struct {
	patience, slow time.Duration

	waiting prometheus.Gauge
	shared  prometheus.Counter

	mu     sync.Mutex // also guards the contents of the lanes
	byText *simplelru.LRU[string, *lane]
}

// lane holds the reads of one statement text. An evicted lane still serves its reads.
type lane struct {
	unions     map[int]string // statement texts by their number of parts
	most       int            // maximum number of parts of a statement
	trips      int            // executions in flight
	aloneUntil time.Time      // no read shares before this time
	waiting    []*part
}

// part holds reads with equal arguments that wait for the same statement.
type part struct {
	args  []driver.NamedValue
	reads []*read
}

// trip is the execution of a statement that several reads share.
type trip struct {
	lane   *lane
	text   string
	parts  []*part
	reads  atomic.Int32 // reads that have not left
	cancel context.CancelFunc
}

// read is a waiting call of Each.
type read struct {
	deadline time.Time
	each     func(*Row) error

	trip    *trip         // nil before the read is sent, and for a read that must run alone
	alone   bool          // the read must run its own statement
	done    chan struct{} // closed when the read has finished, or must run alone
	tripErr error         // error of the shared statement

	mu   sync.Mutex // held while a row is delivered, and to leave
	left bool       // the caller has stopped waiting
	row  Row

	panicked any // the panic of each, with its stack
}

func newLanes() *lanes {
	byText, _ := simplelru.NewLRU[string, *lane](lanesKept, nil) // fails only for a size below 1
	return &lanes{
		patience: patience, slow: slow,
		byText: byText,
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "moderato_reads_waiting",
			Help: "Reads waiting for a coalesced query or for a free slot.",
		}),
		shared: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "moderato_reads_shared_total",
			Help: "Reads served by a coalesced query.",
		}),
	}
}

// eachInLane is eachAlone for a call with a deadline, and may share its statement. When
// a shared statement fails, eachInLane runs the statement alone if each has received no
// row yet, or if mayRepeat.
func (s *Store) eachInLane(ctx context.Context, text string, args []driver.NamedValue, mayRepeat bool, each func(*Row) error) error {
	l, r := s.enter(ctx, text, args, each)
	if r != nil && !s.wait(ctx, l, r) {
		return ctx.Err()
	}
	switch {
	case r == nil || r.alone:
		var took time.Duration
		defer func() { s.returned(l, took > s.lanes.slow) }()
		took, err := s.eachAlone(ctx, text, args, each)
		return err
	case r.panicked != nil:
		panic(r.panicked)
	case r.row.err != nil:
		return r.row.err
	case r.tripErr != nil && (r.row.count == 0 || mayRepeat):
		// The failure may come from the part of another read.
		_, err := s.eachAlone(ctx, text, args, each)
		return err
	}
	return r.tripErr
}

// enter returns the lane of a text, and the read that it added to the waiting reads;
// the read is nil if the caller must run its statement immediately.
func (s *Store) enter(ctx context.Context, text string, args []driver.NamedValue, each func(*Row) error) (*lane, *read) {
	s.lanes.mu.Lock()
	defer s.lanes.mu.Unlock()
	l, ok := s.lanes.byText.Get(text)
	if !ok {
		l = newLane(text)
		s.lanes.byText.Add(text, l)
	}
	deadline, _ := ctx.Deadline()
	now := time.Now()
	if l.trips < freeTrips || l.most == 1 || now.Before(l.aloneUntil) || deadline.Sub(now) < s.lanes.slow {
		l.trips++
		return l, nil
	}
	r := &read{deadline: deadline, each: each, done: make(chan struct{})}
	l.add(r, args)
	if len(l.waiting) == l.most {
		l.trips++
		s.send(l)
	}
	return l, r
}

func newLane(text string) *lane {
	l := &lane{unions: map[int]string{1: text}, most: 1}
	columns, canShare := strings.CutPrefix(strings.TrimSpace(text), "SELECT ")
	for n := 2; canShare && n <= maxParts; n *= 2 {
		u := union(columns, n)
		if len(u) > maxShared {
			break
		}
		l.unions[n], l.most = u, n
	}
	return l
}

// union returns a UNION ALL of n copies of a statement, each with its number as the
// first column.
func union(columns string, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(" UNION ALL ")
		}
		b.WriteString("(SELECT " + strconv.Itoa(i) + ", " + columns + ")")
	}
	return b.String()
}

func (l *lane) add(r *read, args []driver.NamedValue) {
	for _, p := range l.waiting {
		if reflect.DeepEqual(p.args, args) {
			p.reads = append(p.reads, r)
			return
		}
	}
	l.waiting = append(l.waiting, &part{args, []*read{r}})
}

// wait waits until a read has finished or must run alone. It returns false if ctx ends
// first.
func (s *Store) wait(ctx context.Context, l *lane, r *read) bool {
	s.lanes.waiting.Inc()
	defer s.lanes.waiting.Dec()
	late := time.NewTimer(s.lanes.patience)
	defer late.Stop()
	for {
		select {
		case <-r.done:
			return true
		case <-late.C:
			s.hasten(l, r)
		case <-ctx.Done():
			if s.lanes.leave(l, r) {
				return false
			}
			<-r.done
			return true
		}
	}
}

// hasten sends waiting reads until r is sent, regardless of the executions in flight.
func (s *Store) hasten(l *lane, r *read) {
	s.lanes.mu.Lock()
	defer s.lanes.mu.Unlock()
	for r.trip == nil && !r.alone {
		l.trips++
		s.send(l)
	}
}

// leave removes a read, so that it receives no further row. It returns false, and the
// read stays, if the read was already told to run alone: it must pass its slot on.
func (l *lanes) leave(from *lane, r *read) bool {
	if !l.remove(from, r) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = true
	return true
}

func (l *lanes) remove(from *lane, r *read) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := r.trip; t != nil {
		if t.reads.Add(-1) == 0 {
			t.cancel()
		}
		return true
	}
	for _, p := range from.waiting {
		p.reads = slices.DeleteFunc(p.reads, func(other *read) bool { return other == r })
	}
	from.waiting = slices.DeleteFunc(from.waiting, func(p *part) bool { return len(p.reads) == 0 })
	return !r.alone
}

// returned passes the slot of a finished statement to the waiting reads.
func (s *Store) returned(l *lane, hadTrouble bool) {
	s.lanes.mu.Lock()
	defer s.lanes.mu.Unlock()
	if hadTrouble {
		l.aloneUntil = time.Now().Add(pause)
	}
	if len(l.waiting) == 0 || l.trips > freeTrips {
		l.trips--
		return
	}
	s.send(l)
}

// send sends the reads that have waited longest. The number of parts is a power of two,
// to keep the number of different prepared statements small.
func (s *Store) send(l *lane) {
	n := l.most
	for n > len(l.waiting) {
		n /= 2
	}
	parts := slices.Clone(l.waiting[:n])
	l.waiting = slices.Delete(l.waiting, 0, n)
	if first := parts[0].reads; n == 1 && len(first) == 1 {
		first[0].alone = true
		close(first[0].done)
		return
	}
	t := &trip{lane: l, text: l.unions[n], parts: parts}
	var deadline time.Time // the latest of the reads
	for r := range t.all() {
		r.trip = t
		t.reads.Add(1)
		if r.deadline.After(deadline) {
			deadline = r.deadline
		}
	}
	var ctx context.Context
	ctx, t.cancel = context.WithDeadline(context.Background(), deadline)
	go s.answer(ctx, t)
}

// all returns an iterator over the reads of a trip.
func (t *trip) all() iter.Seq[*read] {
	return func(yield func(*read) bool) {
		for _, p := range t.parts {
			for _, r := range p.reads {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// answer runs the statement of a trip and completes its reads.
func (s *Store) answer(ctx context.Context, t *trip) {
	defer t.cancel()
	took, err := s.readParts(ctx, t)
	here := t.reads.Load()
	if err == nil {
		s.lanes.shared.Add(float64(here))
	}
	for r := range t.all() {
		r.tripErr = err
		close(r.done)
	}
	s.returned(t.lane, took > s.lanes.slow || err != nil && here > 0)
}

func (s *Store) readParts(ctx context.Context, t *trip) (took time.Duration, err error) {
	defer func() {
		// Nothing else recovers a panic in this goroutine. A read that is retried alone
		// panics again, in the goroutine of its caller.
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v", reason)
		}
	}()
	if len(t.parts) == 1 {
		return s.eachAlone(ctx, t.text, t.parts[0].args, t.parts[0].give)
	}
	var args []driver.NamedValue
	for _, p := range t.parts {
		args = append(args, p.args...)
	}
	for i := range args {
		args[i].Ordinal = i + 1
	}
	return s.eachAlone(ctx, t.text, args, func(row *Row) error {
		return t.parts[row.Int()].give(row)
	})
}

// give delivers a row to every read of a part.
func (p *part) give(row *Row) error {
	for _, r := range p.reads {
		r.take(row.values, row.at)
	}
	return nil
}

func (r *read) take(values []driver.Value, at int) {
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
