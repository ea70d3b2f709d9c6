package coalesce_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/coalesce"
	"github.com/moderato-live/moderato/server/store/storetest"
)

func TestFailedCoalescedReadsRunAlone(t *testing.T) {
	eachFixture(t, func(t *testing.T, f *fixture) {
		f.failCoalesced(0)
		var first reads
		held := f.hold(t, &first)
		f.wantAlone(t, held)
		first.wantTitles(t, free)
	})
}

// TestCoalescedQueryFailsBetweenRows makes a coalesced query fail after it delivered the
// rows of three reads: calls of One repeat it, and calls of Each fail.
func TestCoalescedQueryFailsBetweenRows(t *testing.T) {
	const answered = 3
	for name, want := range map[string]struct {
		isOne         bool
		again, failed int
	}{
		"many rows": {false, full - answered, answered},
		"one row":   {true, full, 0},
	} {
		t.Run(name, func(t *testing.T) {
			eachFixture(t, func(t *testing.T, f *fixture) {
				f.isOne = want.isOne
				f.failCoalesced(answered)
				var first, rest reads
				held := f.hold(t, &first)
				f.start(t.Context(), &rest, upTo(free, free+full)...)
				for range want.again {
					<-held
				}
				f.gate.Open()
				first.wantTitles(t, free)
				failed := 0
				for _, got := range rest.wait() {
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

// failCoalesced makes coalesced queries fail after some rows.
func (f *fixture) failCoalesced(after int) {
	f.gate.Fail(func(query string) (int, error) {
		if strings.Contains(query, "UNION ALL") {
			return after, errors.New("one of them failed")
		}
		return 0, nil
	})
}

// TestFailureOfACallbackAffectsOnlyItsRead makes the callback of one of the coalesced
// reads return an error, and panic.
func TestFailureOfACallbackAffectsOnlyItsRead(t *testing.T) {
	eachFixture(t, func(t *testing.T, f *fixture) {
		for what, fail := range map[string]func() error{
			"an error": func() error { return errors.New("refused") },
			"a panic":  func() error { panic("refused") },
		} {
			var first, rest reads
			held := f.hold(t, &first)
			failed := make(chan any, 1)
			go func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				var err error
				defer func() { failed <- cmp.Or(recover(), any(err)) }()
				err = f.Each(ctx, title, []any{f.ids[20]}, func(*coalesce.Row) error { return fail() })
			}()
			f.untilWaiting(t, 1)
			f.start(t.Context(), &rest, upTo(free, free+full-1)...)
			<-held
			f.gate.Open()
			if got := <-failed; got == nil || !strings.Contains(fmt.Sprint(got), "refused") {
				t.Errorf("%s: got %v", what, got)
			}
			first.wantTitles(t, free)
			rest.wantTitles(t, full-1)
		}
	})
}

// TestReadIsSentAfterTheMaximumDelay makes the statements in flight hang while too few
// reads wait to fill a statement.
func TestReadIsSentAfterTheMaximumDelay(t *testing.T) {
	eachFixture(t, func(t *testing.T, f *fixture) {
		var first, rest reads
		held := f.hold(t, &first)
		f.SetBounds(time.Millisecond, slow)
		f.start(t.Context(), &rest, upTo(free, free+3)...)
		for sent := 0; sent < 3; {
			sent += len((<-held).Args)
		}
		f.gate.Open()
		first.wantTitles(t, free)
		rest.wantTitles(t, 3)
	})
}

// TestSlowQueriesAreNotCoalesced makes a read exceed the bound for coalesced queries:
// afterwards, reads of its query run alone.
func TestSlowQueriesAreNotCoalesced(t *testing.T) {
	eachFixture(t, func(t *testing.T, f *fixture) {
		f.SetBounds(time.Hour, 0)
		if got := f.read(t.Context(), 0); got.err != nil {
			t.Fatal(got.err)
		}
		var first reads
		held := f.hold(t, &first)
		f.wantAlone(t, held)
		first.wantTitles(t, free)
	})
}

// TestCoalescedReadsEndAtTheirDeadline makes reads wait for a lock, some of them beyond
// the deadlines of their calls.
func TestCoalescedReadsEndAtTheirDeadline(t *testing.T) {
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		f := newFixture(t, url, nil, coalesce.Options{Coalesce: true})
		blocker, err := f.store.DB().Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = blocker.Close() }()
		for n := range 4 { // unprepared, and prepared
			if _, err := blocker.ExecContext(t.Context(), "LOCK TABLES channels WRITE"); err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				f.wantDeadline(t)
			}
			var later reads
			f.start(t.Context(), &later, upTo(0, free+full)...)
			f.untilWaiting(t, full)
			if _, err := blocker.ExecContext(t.Context(), "UNLOCK TABLES"); err != nil {
				t.Fatal(err)
			}
			later.wantTitles(t, free+full)
		}
		if got := f.metric(t, "moderato_reads_coalesced_total"); got != 4*full {
			t.Errorf("got %d coalesced reads, want %d", got, 4*full)
		}
	})
}

// wantDeadline makes reads wait for the lock beyond their deadlines.
func (f *fixture) wantDeadline(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	var soon reads
	f.start(ctx, &soon, upTo(0, 2*free)...)
	for _, got := range soon.wait() {
		if !errors.Is(got.err, context.DeadlineExceeded) {
			t.Errorf("while the table is locked: got %q, %v, want %v", got.titles, got.err, context.DeadlineExceeded)
		}
	}
}

// TestRejectedQueryFailsEveryCall reads with a query that Verify rejects, where it could
// be coalesced, and then with one that Verify accepts.
func TestRejectedQueryFailsEveryCall(t *testing.T) {
	eachFixture(t, func(t *testing.T, f *fixture) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for range 2 * free {
			err := f.Each(ctx, "SELECT DISTINCT title FROM channels", nil, func(*coalesce.Row) error {
				t.Error("got a row")
				return nil
			})
			if err == nil || !strings.Contains(err.Error(), "DISTINCT") {
				t.Errorf("got %v, want an error about DISTINCT", err)
			}
		}
		if got := f.read(ctx, 1); got.err != nil {
			t.Errorf("another query: %v", got.err)
		}
	})
}

func TestReadsRunAloneWithoutCoalescing(t *testing.T) {
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		gate := &storetest.Gate{}
		f := newFixture(t, url, gate.Layer(), coalesce.Options{})
		f.gate = gate
		var first reads
		held := f.hold(t, &first)
		f.wantAlone(t, held)
		first.wantTitles(t, free)
		if got := f.metric(t, "moderato_reads_coalesced_total"); got != 0 {
			t.Errorf("got %d coalesced reads, want none", got)
		}
	})
}
