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
	// lanesKept is how many texts of statements have a lane.
	lanesKept = 256
	// freeTrips is how many statements of a text are on their way before others wait.
	freeTrips = 4
	// maxParts is how many different reads one statement answers, a power of two.
	maxParts = 8
	// patience is how long a read waits before its statement is sent all the same:
	// those on their way may hang.
	patience = 20 * time.Millisecond
	// slow is how long a statement may take, and a call must have left, to be shared.
	slow = time.Second
	// pause is for how long reads do not share after a statement that was slow or
	// failed.
	pause = time.Second
)

// lanes have reads of a server that run the same statement, each with its arguments,
// share it while there are many: most of what a small read costs is the way to the
// server and back. Once a few of a text are on their way, who comes waits for one of
// them to return, or for so many to wait that their statement is full, and not for
// long; they go as one UNION ALL, and equal ones as one of its parts. Nobody joins a
// statement that was sent already: no read is older than its request. Who is alone
// waits for nobody.
type lanes struct {
	patience, slow time.Duration

	waiting prometheus.Gauge
	shared  prometheus.Counter

	mu     sync.Mutex // guards what is in the lanes too
	byText *simplelru.LRU[string, *lane]
}

// lane is the reads of a text. One that is evicted still answers those in it.
type lane struct {
	unions     map[int]string // the statements of so many parts
	most       int            // how many parts one may have
	trips      int            // statements on their way
	aloneUntil time.Time      // nobody shares before
	waiting    []*part
}

// part is the reads with the same arguments that wait for the same statement.
type part struct {
	args  []driver.NamedValue
	reads []*read
}

// trip is a statement that several reads share.
type trip struct {
	lane   *lane
	text   string
	parts  []*part
	reads  atomic.Int32 // that have not left
	cancel context.CancelFunc
}

// read is a call of Each that waits.
type read struct {
	deadline time.Time
	each     func(*Row) error

	trip    *trip         // nil before it is sent, and for one that is to go alone
	alone   bool          // it is to go alone
	done    chan struct{} // closed when it was answered, or is to go alone
	tripErr error         // why its statement failed

	mu   sync.Mutex // held while a row is taken, and to leave
	left bool       // its caller is gone
	row  Row

	panicked any // with what each panicked
}

func newLanes() *lanes {
	byText, _ := simplelru.NewLRU[string, *lane](lanesKept, nil) // it fails only for a size below 1
	return &lanes{
		patience: patience, slow: slow,
		byText: byText,
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "moderato_reads_waiting",
			Help: "Reads that wait for a statement they share, or for a place to send one.",
		}),
		shared: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "moderato_reads_shared_total",
			Help: "Reads that were answered by a statement that answered others too.",
		}),
	}
}

// eachInLane is eachAlone for a call with a deadline. What it has read when its
// statement fails it may read again if mayRepeat.
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
		// What failed may have been another's part.
		_, err := s.eachAlone(ctx, text, args, each)
		return err
	}
	return r.tripErr
}

// enter finds the lane of a text, and the read that waits in it; nil for one that
// goes at once.
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

// union is a statement n times, with its number before the columns of each.
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

// wait is false when the caller goes away before there is an answer.
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

// hasten sends those who wait, if the read is one of them.
func (s *Store) hasten(l *lane, r *read) {
	s.lanes.mu.Lock()
	defer s.lanes.mu.Unlock()
	for r.trip == nil && !r.alone {
		l.trips++
		s.send(l)
	}
}

// leave has a read get no further row. It is false, and the read stays, if that has
// been told to go alone: it must give its place on.
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

// returned gives the place of a statement to those who wait.
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

// send sends those who waited longest. They are a power of two, so that there are few
// different statements to prepare.
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
	var deadline time.Time // the last one's
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

// all are the reads of a trip.
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

// answer answers the reads of a trip with one statement.
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
		// Nobody would recover here. Who goes on alone panics again, where it is.
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

// give has the readers of a part read a row.
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
			r.panicked = fmt.Sprintf("%v\n%s", reason, debug.Stack()) // goes on in the caller's goroutine
		}
	}()
	r.row.values, r.row.at = values, at
	r.row.count++
	if err := r.each(&r.row); err != nil {
		r.row.err = err
	}
}
