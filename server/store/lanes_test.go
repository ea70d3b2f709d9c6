package store_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
	"github.com/moderato-live/moderato/server/uid"
)

// lanes is a store with a channel for each of some reads, the n-th titled "n", whose
// statements a gate holds.
type lanes struct {
	*store.Store
	gate    *storetest.Gate
	ids     []uid.ID
	metrics *prometheus.Registry
	isOne   bool         // they ask for one row
	late    atomic.Int32 // rows that were read for calls that had returned
}

const (
	title = "SELECT id, title FROM channels WHERE id = ?"
	// free is how many statements go before reads wait, full how many parts one has.
	free, full = 4, 8
	// slow is longer than any takes here, and shorter than what is left of its call.
	slow = 30 * time.Second
)

func eachLanes(t *testing.T, test func(t *testing.T, l *lanes)) {
	t.Helper()
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		migrate(t, url)
		gate := &storetest.Gate{}
		l := fill(t, url, gate.Layer())
		l.gate = gate
		test(t, l)
	})
}

// fill opens a store and fills it with channels.
func fill(t *testing.T, url store.URL, through store.Layer) *lanes {
	t.Helper()
	l := &lanes{metrics: prometheus.NewRegistry()}
	var err error
	if l.Store, err = store.OpenThrough(t.Context(), url, through); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	l.SetBounds(time.Hour, slow)
	l.Register(l.metrics)
	for n := range 3 * full {
		l.ids = append(l.ids, uid.New())
		_, err := l.DB().ExecContext(t.Context(),
			"INSERT INTO channels (id, title, bio, lang, created_at) VALUES (?, ?, '', 'en', 1)", l.ids[n], fmt.Sprint(n))
		if err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// metric is the value of a metric without labels.
func (l *lanes) metric(t *testing.T, name string) int {
	t.Helper()
	families, err := l.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return int(f.GetMetric()[0].GetGauge().GetValue() + f.GetMetric()[0].GetCounter().GetValue())
		}
	}
	t.Fatalf("there is no %s", name)
	return 0
}

// untilWaiting returns when so many reads wait.
func (l *lanes) untilWaiting(t *testing.T, want int) {
	t.Helper()
	for started := time.Now(); l.metric(t, "moderato_reads_waiting") != want; {
		if time.Since(started) > 30*time.Second {
			t.Fatalf("got %d reads that wait, want %d", l.metric(t, "moderato_reads_waiting"), want)
		}
		time.Sleep(time.Millisecond)
	}
}

// answer is what a read of a title yields.
type answer struct {
	of     int // the channel
	titles []string
	err    error
}

func (l *lanes) ask(ctx context.Context, n int) (a answer) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var over atomic.Bool
	defer over.Store(true)
	a.of = n
	if l.isOne {
		a.err = l.One(ctx, title, []any{l.ids[n]}, func(r *store.Row) {
			_ = r.ID()
			a.titles = []string{r.Text()}
		})
		return a
	}
	a.err = l.Each(ctx, title, []any{l.ids[n]}, func(r *store.Row) error {
		if over.Load() {
			l.late.Add(1)
		}
		if id := r.ID(); id != l.ids[n] {
			return fmt.Errorf("got the channel %s, want %s", id, l.ids[n])
		}
		a.titles = append(a.titles, r.Text())
		return nil
	})
	return a
}

// asking is reads under way, and their answers.
type asking struct {
	under   sync.WaitGroup
	mu      sync.Mutex
	answers []answer
}

// start has reads of some channels start.
func (l *lanes) start(ctx context.Context, a *asking, reads ...int) {
	for _, n := range reads {
		a.under.Go(func() {
			got := l.ask(ctx, n)
			a.mu.Lock()
			defer a.mu.Unlock()
			a.answers = append(a.answers, got)
		})
	}
}

// done waits for all answers.
func (a *asking) done() []answer {
	a.under.Wait()
	return a.answers
}

func (a *asking) wantTitles(t *testing.T, want int) {
	t.Helper()
	for _, got := range a.done() {
		if got.err != nil || len(got.titles) != 1 || got.titles[0] != fmt.Sprint(got.of) {
			t.Errorf("of channel %d: got %q, %v", got.of, got.titles, got.err)
		}
	}
	if len(a.answers) != want {
		t.Errorf("got %d answers, want %d", len(a.answers), want)
	}
}

func (a *asking) wantCanceled(t *testing.T) {
	t.Helper()
	for _, got := range a.done() {
		if !errors.Is(got.err, context.Canceled) || got.titles != nil {
			t.Errorf("got %q, %v, want %v", got.titles, got.err, context.Canceled)
		}
	}
}

// hold has as many statements under way as go at once. Their answers are held.
func (l *lanes) hold(t *testing.T, a *asking) <-chan storetest.Statement {
	t.Helper()
	held := l.gate.Shut("title FROM channels")
	for n := range free {
		l.start(t.Context(), a, n)
		if s := <-held; s.Text != title {
			t.Errorf("statement %d: got %q, want it alone", n, s.Text)
		}
	}
	return held
}

// wantAlone has further reads go, each with a statement of its own, and lets all
// return.
func (l *lanes) wantAlone(t *testing.T, held <-chan storetest.Statement) {
	t.Helper()
	var rest asking
	l.start(t.Context(), &rest, upTo(free, free+full)...)
	for range full {
		if s := <-held; s.Text != title {
			t.Errorf("got %q, want each alone", s.Text)
		}
	}
	l.gate.Open()
	rest.wantTitles(t, full)
}

func upTo(from, to int) (all []int) {
	for n := from; n < to; n++ {
		all = append(all, n)
	}
	return all
}

func TestSoManyReadsGoTogether(t *testing.T) {
	eachLanes(t, func(t *testing.T, l *lanes) {
		for range 3 { // as a text, and prepared
			var first, rest asking
			held := l.hold(t, &first)
			l.start(t.Context(), &rest, upTo(free, free+full)...)
			s := <-held
			if len(s.Args) != full || strings.Count(s.Text, "SELECT") != full {
				t.Errorf("got %q with %d arguments, want %d reads in one", s.Text, len(s.Args), full)
			}
			l.gate.Open()
			first.wantTitles(t, free)
			rest.wantTitles(t, full)
		}
		if got := l.metric(t, "moderato_reads_shared_total"); got != 3*full {
			t.Errorf("got %d reads that shared a statement, want %d", got, 3*full)
		}
	})
}

func TestWhoWaitsGoesWhenOthersReturn(t *testing.T) {
	eachLanes(t, func(t *testing.T, l *lanes) {
		var first, rest asking
		held := l.hold(t, &first)
		reads := upTo(free, free+7)
		l.start(t.Context(), &rest, reads...)
		l.untilWaiting(t, len(reads))
		select {
		case s := <-held:
			t.Errorf("%q was sent while others were on their way", s.Text)
		default:
		}
		l.gate.Open()
		first.wantTitles(t, free)
		rest.wantTitles(t, len(reads))
		if got := l.metric(t, "moderato_reads_shared_total"); got != 6 {
			t.Errorf("got %d reads that shared a statement, want 6: four, two, and one alone", got)
		}
		l.untilWaiting(t, 0)
	})
}

func TestEqualReadsAreOnePart(t *testing.T) {
	eachLanes(t, func(t *testing.T, l *lanes) {
		var first, rest asking
		held := l.hold(t, &first)
		l.start(t.Context(), &rest, slices.Repeat([]int{5}, 20)...)
		l.untilWaiting(t, 20)
		l.start(t.Context(), &rest, upTo(6, 6+full-1)...)
		if s := <-held; len(s.Args) != full {
			t.Errorf("got %d arguments, want %d: one of each", len(s.Args), full)
		}
		l.gate.Open()
		first.wantTitles(t, free)
		rest.wantTitles(t, 20+full-1)
		if got := l.metric(t, "moderato_reads_shared_total"); got != 20+full-1 {
			t.Errorf("got %d reads that shared a statement, want %d", got, 20+full-1)
		}
	})
}

// TestNobodyJoinsWhatWasSent changes a channel after it was read, before the answer
// is there: who asks then must see the change.
func TestNobodyJoinsWhatWasSent(t *testing.T) {
	eachLanes(t, func(t *testing.T, l *lanes) {
		held := l.gate.Shut("title FROM channels")
		var early, late asking
		for range free {
			l.start(t.Context(), &early, 0)
			<-held
		}
		if _, err := l.DB().ExecContext(t.Context(), "UPDATE channels SET title = 'new' WHERE id = ?", l.ids[0]); err != nil {
			t.Fatal(err)
		}
		l.start(t.Context(), &late, 0)
		l.untilWaiting(t, 1)
		l.gate.Open()
		early.wantTitles(t, free)
		if a := late.done()[0]; a.err != nil || len(a.titles) != 1 || a.titles[0] != "new" {
			t.Errorf("after the change: got %q, %v, want the new title", a.titles, a.err)
		}
	})
}

func TestAReadLeavesWithItsCall(t *testing.T) {
	eachLanes(t, func(t *testing.T, l *lanes) {
		ctx, hangUp := context.WithCancel(t.Context())
		var first, gone, rest asking
		held := l.hold(t, &first)
		l.start(ctx, &gone, 20)
		l.untilWaiting(t, 1)
		hangUp()
		gone.wantCanceled(t)

		l.start(t.Context(), &rest, upTo(free, free+full-1)...)
		l.untilWaiting(t, full-1)
		ctx, hangUp = context.WithCancel(t.Context())
		l.start(ctx, &gone, 21)
		if s := <-held; len(s.Args) != full || slices.ContainsFunc(s.Args, is(l.ids[20])) {
			t.Errorf("got %d reads, want %d, without the one who left", len(s.Args), full)
		}
		hangUp()
		gone.wantCanceled(t)
		l.gate.Open()
		first.wantTitles(t, free)
		rest.wantTitles(t, full-1)
		if late := l.late.Load(); late > 0 {
			t.Errorf("%d rows were read for calls that had returned", late)
		}
	})
}

// is tells whether an argument is an id.
func is(id uid.ID) func(argument any) bool {
	return func(argument any) bool {
		var got uid.ID
		return got.Scan(argument) == nil && got == id
	}
}

func TestWhatFailsTogetherIsReadAlone(t *testing.T) {
	eachLanes(t, func(t *testing.T, l *lanes) {
		l.failShared(0)
		var first asking
		held := l.hold(t, &first)
		l.wantAlone(t, held)
		first.wantTitles(t, free)
	})
}

// TestWhatFailsBetweenRows has a shared statement fail after three of its readers have
// their row: who asked for one row has it all the same.
func TestWhatFailsBetweenRows(t *testing.T) {
	const answered = 3
	for name, want := range map[string]struct {
		isOne         bool
		again, failed int
	}{
		"many rows": {false, full - answered, answered},
		"one row":   {true, full, 0},
	} {
		t.Run(name, func(t *testing.T) {
			eachLanes(t, func(t *testing.T, l *lanes) {
				l.isOne = want.isOne
				l.failShared(answered)
				var first, rest asking
				held := l.hold(t, &first)
				l.start(t.Context(), &rest, upTo(free, free+full)...)
				for range want.again {
					<-held
				}
				l.gate.Open()
				first.wantTitles(t, free)
				failed := 0
				for _, got := range rest.done() {
					if got.err != nil {
						failed++
					} else if len(got.titles) != 1 || got.titles[0] != fmt.Sprint(got.of) {
						t.Errorf("of channel %d: got %q", got.of, got.titles)
					}
				}
				if failed != want.failed {
					t.Errorf("%d of %d failed, want %d", failed, full, want.failed)
				}
			})
		})
	}
}

// failShared has shared statements fail after so many rows.
func (l *lanes) failShared(after int) {
	l.gate.Fail(func(query string) (int, error) {
		if strings.Contains(query, "UNION ALL") {
			return after, errors.New("one of them failed")
		}
		return 0, nil
	})
}

// TestAReaderFailsForItself has some of those who share a statement fail, and panic,
// at what they read.
func TestAReaderFailsForItself(t *testing.T) {
	eachLanes(t, func(t *testing.T, l *lanes) {
		for what, fail := range map[string]func() error{
			"an error": func() error { return errors.New("I will not") },
			"a panic":  func() error { panic("I will not") },
		} {
			var first, rest asking
			held := l.hold(t, &first)
			failed := make(chan any, 1)
			go func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				var err error
				defer func() { failed <- cmp.Or(recover(), any(err)) }()
				err = l.Each(ctx, title, []any{l.ids[20]}, func(*store.Row) error { return fail() })
			}()
			l.untilWaiting(t, 1)
			l.start(t.Context(), &rest, upTo(free, free+full-1)...)
			<-held
			l.gate.Open()
			if got := <-failed; got == nil || !strings.Contains(fmt.Sprint(got), "I will not") {
				t.Errorf("%s: got %v", what, got)
			}
			first.wantTitles(t, free)
			rest.wantTitles(t, full-1)
		}
	})
}

// TestAReadWaitsNotForLong has those hang that are on their way: nobody returns, and
// too few come for a statement to be full.
func TestAReadWaitsNotForLong(t *testing.T) {
	eachLanes(t, func(t *testing.T, l *lanes) {
		var first, rest asking
		held := l.hold(t, &first)
		l.SetBounds(time.Millisecond, slow)
		l.start(t.Context(), &rest, upTo(free, free+3)...)
		for sent := 0; sent < 3; {
			sent += len((<-held).Args)
		}
		l.gate.Open()
		first.wantTitles(t, free)
		rest.wantTitles(t, 3)
	})
}

// TestSlowReadsDoNotShare has a read take longer than one may: those of its text go
// beside each other then.
func TestSlowReadsDoNotShare(t *testing.T) {
	eachLanes(t, func(t *testing.T, l *lanes) {
		l.SetBounds(time.Hour, 0)
		if got := l.ask(t.Context(), 0); got.err != nil {
			t.Fatal(got.err)
		}
		var first asking
		held := l.hold(t, &first)
		l.wantAlone(t, held)
		first.wantTitles(t, free)
	})
}

// TestWhatIsSharedIsBounded has reads wait for a lock of the server's, some of them
// for longer than their calls last.
func TestWhatIsSharedIsBounded(t *testing.T) {
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		migrate(t, url)
		l := fill(t, url, nil)
		blocker, err := l.DB().Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = blocker.Close() }()
		for n := range 4 { // as a text, and prepared
			if _, err := blocker.ExecContext(t.Context(), "LOCK TABLES channels WRITE"); err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				l.wantDeadline(t)
			}
			var later asking
			l.start(t.Context(), &later, upTo(0, free+full)...)
			l.untilWaiting(t, full)
			if _, err := blocker.ExecContext(t.Context(), "UNLOCK TABLES"); err != nil {
				t.Fatal(err)
			}
			later.wantTitles(t, free+full)
		}
		if got := l.metric(t, "moderato_reads_shared_total"); got != 4*full {
			t.Errorf("got %d reads that shared a statement, want %d", got, 4*full)
		}
	})
}

// wantDeadline has reads wait for the lock for longer than their calls last.
func (l *lanes) wantDeadline(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	var soon asking
	l.start(ctx, &soon, upTo(0, 2*free)...)
	for _, got := range soon.done() {
		if !errors.Is(got.err, context.DeadlineExceeded) {
			t.Errorf("while the table is locked: got %q, %v, want %v", got.titles, got.err, context.DeadlineExceeded)
		}
	}
}
