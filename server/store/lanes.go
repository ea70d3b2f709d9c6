package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/prometheus/client_golang/prometheus"
)

const (
	// lanesKept is for how many texts of statements it is known what is on its way.
	lanesKept = 256
	// freeTrips is how many statements of a text are on their way before others wait.
	freeTrips = 4
	// maxParts is how many different reads one statement answers, a power of two.
	maxParts = 8
)

// lanes have reads of a server that run the same statement, each with its arguments,
// share it while there are many: most of what a small read costs is the way to the
// server and back. Who comes while a few of a text are on their way waits for the
// first of them to return, or for so many to wait that their statement is full; they
// go as one UNION ALL, and equal ones as one of its parts. Nobody joins a statement
// that was sent already: no read is older than its request. Who is alone waits for
// nobody.
type lanes struct {
	mu      sync.Mutex // of the lanes too
	byText  *simplelru.LRU[string, *lane]
	waiting prometheus.Gauge
	shared  prometheus.Counter
}

// lane is the reads of a text. One that is pushed out while it has some serves them
// still.
type lane struct {
	text    string
	trips   int // statements on their way
	waiting []*part
}

// part is the reads with the same arguments that wait for the same statement.
type part struct {
	args  []driver.NamedValue
	reads []*read
}

// read is a call of Each that waits.
type read struct {
	deadline time.Time
	each     func(*Row) error

	done  chan struct{} // closed when it was answered, or is to go alone
	alone bool
	trip  error // why its statement failed

	mu   sync.Mutex // held while a row is taken, and to leave
	left bool       // its caller is gone
	row  Row

	panicked any // with what each panicked
}

func newLanes() *lanes {
	byText, _ := simplelru.NewLRU[string, *lane](lanesKept, nil) // it fails only for a size below 1
	return &lanes{
		byText: byText,
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "moderato_reads_waiting",
			Help: "Reads that wait for a statement which others share or have yet to answer.",
		}),
		shared: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "moderato_reads_shared_total",
			Help: "Reads that were answered by a statement that answered others too.",
		}),
	}
}

// eachInLane is eachAlone for a call with a deadline.
func (s *Store) eachInLane(ctx context.Context, text string, args []driver.NamedValue, each func(*Row) error) error {
	l, r := s.enter(ctx, text, args, each)
	if r != nil && !s.lanes.wait(ctx, l, r) {
		return ctx.Err()
	}
	switch {
	case r == nil || r.alone:
		defer s.returned(l)
		return s.eachAlone(ctx, text, args, each)
	case r.trip != nil && r.row.count == 0:
		// What failed may have been another's part, or a lost connection.
		return s.eachAlone(ctx, text, args, each)
	case r.panicked != nil:
		panic(r.panicked)
	}
	return errors.Join(r.trip, r.row.err)
}

// wait is false when the caller goes away before there is an answer.
func (l *lanes) wait(ctx context.Context, in *lane, r *read) bool {
	l.waiting.Inc()
	defer l.waiting.Dec()
	select {
	case <-r.done:
		return true
	case <-ctx.Done():
	}
	if l.leave(in, r) {
		return false
	}
	<-r.done
	return true
}

// enter finds the lane of a text, and the read that waits in it; nil for one that
// may go at once.
func (s *Store) enter(ctx context.Context, text string, args []driver.NamedValue, each func(*Row) error) (*lane, *read) {
	s.lanes.mu.Lock()
	defer s.lanes.mu.Unlock()
	l, ok := s.lanes.byText.Get(text)
	if !ok {
		l = &lane{text: text}
		s.lanes.byText.Add(text, l)
	}
	if l.trips < freeTrips {
		l.trips++
		return l, nil
	}
	r := &read{each: each, done: make(chan struct{})}
	r.deadline, _ = ctx.Deadline()
	l.add(r, args)
	if len(l.waiting) == l.most() {
		l.trips++
		go s.trip(l, l.take())
	}
	return l, r
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

// most is how many parts a statement of the lane may have.
func (l *lane) most() int {
	n := maxParts
	for n > 1 && n*len(l.text) > maxPrepared {
		n /= 2
	}
	return n
}

// take takes those who waited longest. It takes a power of two, so that there are
// few different statements to prepare.
func (l *lane) take() []*part {
	n := l.most()
	for n > len(l.waiting) {
		n /= 2
	}
	taken := slices.Clone(l.waiting[:n])
	l.waiting = slices.Delete(l.waiting, 0, n)
	return taken
}

// leave tells whether the caller may go: not if it has been told to go alone, for
// it must give its place on.
func (l *lanes) leave(from *lane, r *read) bool {
	l.mu.Lock()
	alone := r.alone
	for _, p := range from.waiting {
		p.reads = slices.DeleteFunc(p.reads, func(other *read) bool { return other == r })
	}
	from.waiting = slices.DeleteFunc(from.waiting, func(p *part) bool { return len(p.reads) == 0 })
	l.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = true
	return !alone
}

// returned gives the place of a statement to those who wait.
func (s *Store) returned(l *lane) {
	s.lanes.mu.Lock()
	defer s.lanes.mu.Unlock()
	if len(l.waiting) == 0 || l.trips > freeTrips {
		l.trips--
		return
	}
	parts := l.take()
	if first := parts[0].reads; len(parts) == 1 && len(first) == 1 {
		first[0].alone = true
		close(first[0].done)
		return
	}
	go s.trip(l, parts)
}

// trip answers the reads of some parts with one statement.
func (s *Store) trip(l *lane, parts []*part) {
	defer s.returned(l)
	err := s.readParts(l.text, parts)
	for _, p := range parts {
		s.lanes.shared.Add(float64(len(p.reads)))
		for _, r := range p.reads {
			r.trip = err
			close(r.done)
		}
	}
}

func (s *Store) readParts(text string, parts []*part) error {
	var args []driver.NamedValue
	var deadline time.Time // the last one's
	for _, p := range parts {
		args = append(args, p.args...)
		for _, r := range p.reads {
			if r.deadline.After(deadline) {
				deadline = r.deadline
			}
		}
	}
	for i := range args {
		args[i].Ordinal = i + 1
	}
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	if len(parts) == 1 {
		return s.eachOnce(ctx, text, args, &Row{}, parts[0].give)
	}
	return s.eachOnce(ctx, union(text, len(parts)), args, &Row{}, func(row *Row) error {
		return parts[row.Int()].give(row)
	})
}

// union is a statement n times, with its number before the columns of each.
func union(text string, n int) string {
	columns := strings.TrimPrefix(strings.TrimSpace(text), "SELECT ")
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(" UNION ALL ")
		}
		b.WriteString("(SELECT " + strconv.Itoa(i) + ", " + columns + ")")
	}
	return b.String()
}

// give has the readers of a part read a row.
func (p *part) give(row *Row) error {
	for _, r := range p.reads {
		r.take(row)
	}
	return nil
}

func (r *read) take(row *Row) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left || r.panicked != nil || r.row.err != nil {
		return
	}
	defer func() { r.panicked = recover() }() // goes on in the caller's goroutine
	r.row.values, r.row.at = row.values, row.at
	r.row.count++
	r.row.err = errors.Join(r.each(&r.row), r.row.err)
}
