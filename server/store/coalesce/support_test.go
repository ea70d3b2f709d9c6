package coalesce_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/coalesce"
	"github.com/moderato-live/moderato/server/store/storetest"
	"github.com/moderato-live/moderato/server/uid"
)

// open migrates a database and opens it.
func open(t *testing.T, url store.URL, o store.Options) *store.Store {
	t.Helper()
	storetest.Migrate(t, url)
	s, err := store.OpenWith(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// fixture is a Reader of a database with some channels, the n-th titled "n". A gate holds
// the results of its statements.
type fixture struct {
	*coalesce.Reader
	store   *store.Store
	gate    *storetest.Gate
	ids     []uid.ID
	metrics *prometheus.Registry
	isOne   bool         // reads use One
	late    atomic.Int32 // rows that were delivered to calls that had returned
}

const (
	title = "SELECT id, title FROM channels WHERE id = ?"
	// free is the number of executions in flight before reads wait, full the maximum
	// number of batches of a statement.
	free, full = 4, 8
	// slow is longer than any statement of these tests takes, and shorter than the time
	// that is left to its call.
	slow = 30 * time.Second
)

// eachFixture runs a test on each database server.
func eachFixture(t *testing.T, test func(t *testing.T, f *fixture)) {
	t.Helper()
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		gate := &storetest.Gate{}
		f := newFixture(t, url, gate.Layer(), coalesce.Options{Coalesce: true})
		f.gate = gate
		test(t, f)
	})
}

func newFixture(t *testing.T, url store.URL, layer store.Layer, o coalesce.Options) *fixture {
	t.Helper()
	f := &fixture{store: open(t, url, store.Options{Layer: layer}), metrics: prometheus.NewRegistry()}
	f.Reader = coalesce.NewReader(f.store.DB(), o)
	f.SetBounds(time.Hour, slow)
	f.Register(f.metrics)
	for n := range 3 * full {
		f.ids = append(f.ids, uid.New())
		_, err := f.store.DB().ExecContext(t.Context(),
			"INSERT INTO channels (id, title, bio, lang, created_at) VALUES (?, ?, '', 'en', 1)", f.ids[n], fmt.Sprint(n))
		if err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// metric returns the value of a metric without labels.
func (f *fixture) metric(t *testing.T, name string) int {
	t.Helper()
	families, err := f.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			return int(family.GetMetric()[0].GetGauge().GetValue() + family.GetMetric()[0].GetCounter().GetValue())
		}
	}
	t.Fatalf("there is no %s", name)
	return 0
}

// untilWaiting waits until this number of reads is queued.
func (f *fixture) untilWaiting(t *testing.T, want int) {
	t.Helper()
	for started := time.Now(); f.metric(t, "moderato_reads_waiting") != want; {
		if time.Since(started) > 30*time.Second {
			t.Fatalf("got %d waiting reads, want %d", f.metric(t, "moderato_reads_waiting"), want)
		}
		time.Sleep(time.Millisecond)
	}
}

// result is the result of a read of a title.
type result struct {
	of     int // the channel
	titles []string
	err    error
}

// read reads the title of a channel.
func (f *fixture) read(ctx context.Context, n int) (got result) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var over atomic.Bool
	defer over.Store(true)
	got.of = n
	if f.isOne {
		got.err = f.One(ctx, title, []any{f.ids[n]}, func(r *coalesce.Row) {
			_ = r.ID()
			got.titles = []string{r.Text()}
		})
		return got
	}
	got.err = f.Each(ctx, title, []any{f.ids[n]}, func(r *coalesce.Row) error {
		if over.Load() {
			f.late.Add(1)
		}
		if id := r.ID(); id != f.ids[n] {
			return fmt.Errorf("got the channel %s, want %s", id, f.ids[n])
		}
		got.titles = append(got.titles, r.Text())
		return nil
	})
	return got
}

// reads are concurrent reads and their results.
type reads struct {
	running sync.WaitGroup
	mu      sync.Mutex
	results []result
}

// start starts a read of each of some channels.
func (f *fixture) start(ctx context.Context, rs *reads, channels ...int) {
	for _, n := range channels {
		rs.running.Go(func() {
			got := f.read(ctx, n)
			rs.mu.Lock()
			defer rs.mu.Unlock()
			rs.results = append(rs.results, got)
		})
	}
}

// wait waits for all results.
func (rs *reads) wait() []result {
	rs.running.Wait()
	return rs.results
}

func (rs *reads) wantTitles(t *testing.T, want int) {
	t.Helper()
	for _, got := range rs.wait() {
		if got.err != nil || len(got.titles) != 1 || got.titles[0] != fmt.Sprint(got.of) {
			t.Errorf("channel %d: got %q, %v", got.of, got.titles, got.err)
		}
	}
	if len(rs.results) != want {
		t.Errorf("got %d results, want %d", len(rs.results), want)
	}
}

func (rs *reads) wantCanceled(t *testing.T) {
	t.Helper()
	for _, got := range rs.wait() {
		if !errors.Is(got.err, context.Canceled) || got.titles != nil {
			t.Errorf("got %q, %v, want %v", got.titles, got.err, context.Canceled)
		}
	}
}

// hold starts as many reads as may be in flight before others wait, and holds their
// results.
func (f *fixture) hold(t *testing.T, rs *reads) <-chan storetest.Statement {
	t.Helper()
	held := f.gate.Shut("title FROM channels")
	for n := range free {
		f.start(t.Context(), rs, n)
		if s := <-held; s.Text != title {
			t.Errorf("statement %d: got %q, want it alone", n, s.Text)
		}
	}
	return held
}

// wantAlone starts further reads, checks that each runs a statement of its own, and
// releases all results.
func (f *fixture) wantAlone(t *testing.T, held <-chan storetest.Statement) {
	t.Helper()
	var rest reads
	f.start(t.Context(), &rest, upTo(free, free+full)...)
	for range full {
		if s := <-held; s.Text != title {
			t.Errorf("got %q, want each alone", s.Text)
		}
	}
	f.gate.Open()
	rest.wantTitles(t, full)
}

func upTo(from, to int) (all []int) {
	for n := from; n < to; n++ {
		all = append(all, n)
	}
	return all
}
