package coalesce_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/server/uid"
)

func TestConcurrentReadsAreCoalesced(t *testing.T) {
	eachFixture(t, func(t *testing.T, f *fixture) {
		for range 3 { // unprepared, and prepared
			var first, rest reads
			held := f.hold(t, &first)
			f.start(t.Context(), &rest, upTo(free, free+full)...)
			s := <-held
			if len(s.Args) != full || strings.Count(s.Text, "SELECT") != full {
				t.Errorf("got %q with %d arguments, want %d reads in one", s.Text, len(s.Args), full)
			}
			f.gate.Open()
			first.wantTitles(t, free)
			rest.wantTitles(t, full)
		}
		if got := f.metric(t, "moderato_reads_coalesced_total"); got != 3*full {
			t.Errorf("got %d coalesced reads, want %d", got, 3*full)
		}
	})
}

func TestQueuedReadsAreSentWhenStatementReturns(t *testing.T) {
	eachFixture(t, func(t *testing.T, f *fixture) {
		var first, rest reads
		held := f.hold(t, &first)
		reads := upTo(free, free+7)
		f.start(t.Context(), &rest, reads...)
		f.untilWaiting(t, len(reads))
		select {
		case s := <-held:
			t.Errorf("%q was sent while others were in flight", s.Text)
		default:
		}
		f.gate.Open()
		first.wantTitles(t, free)
		rest.wantTitles(t, len(reads))
		if got := f.metric(t, "moderato_reads_coalesced_total"); got != 6 {
			t.Errorf("got %d coalesced reads, want 6: four, two, and one alone", got)
		}
		f.untilWaiting(t, 0)
	})
}

func TestEqualReadsShareABatch(t *testing.T) {
	eachFixture(t, func(t *testing.T, f *fixture) {
		var first, rest reads
		held := f.hold(t, &first)
		f.start(t.Context(), &rest, slices.Repeat([]int{5}, 20)...)
		f.untilWaiting(t, 20)
		f.start(t.Context(), &rest, upTo(6, 6+full-1)...)
		if s := <-held; len(s.Args) != full {
			t.Errorf("got %d arguments, want %d: one of each", len(s.Args), full)
		}
		f.gate.Open()
		first.wantTitles(t, free)
		rest.wantTitles(t, 20+full-1)
		if got := f.metric(t, "moderato_reads_coalesced_total"); got != 20+full-1 {
			t.Errorf("got %d coalesced reads, want %d", got, 20+full-1)
		}
	})
}

// TestReadsDoNotJoinASentStatement changes a channel after it was read, and before the
// result has arrived: a read that starts then must return the change.
func TestReadsDoNotJoinASentStatement(t *testing.T) {
	eachFixture(t, func(t *testing.T, f *fixture) {
		held := f.gate.Shut("title FROM channels")
		var early, late reads
		for range free {
			f.start(t.Context(), &early, 0)
			<-held
		}
		if _, err := f.store.DB().ExecContext(t.Context(), "UPDATE channels SET title = 'new' WHERE id = ?", f.ids[0]); err != nil {
			t.Fatal(err)
		}
		f.start(t.Context(), &late, 0)
		f.untilWaiting(t, 1)
		f.gate.Open()
		early.wantTitles(t, free)
		if a := late.wait()[0]; a.err != nil || len(a.titles) != 1 || a.titles[0] != "new" {
			t.Errorf("after the change: got %q, %v, want the new title", a.titles, a.err)
		}
	})
}

func TestCancelledReadLeaves(t *testing.T) {
	eachFixture(t, func(t *testing.T, f *fixture) {
		ctx, hangUp := context.WithCancel(t.Context())
		var first, gone, rest reads
		held := f.hold(t, &first)
		f.start(ctx, &gone, 20)
		f.untilWaiting(t, 1)
		hangUp()
		gone.wantCanceled(t)

		f.start(t.Context(), &rest, upTo(free, free+full-1)...)
		f.untilWaiting(t, full-1)
		ctx, hangUp = context.WithCancel(t.Context())
		f.start(ctx, &gone, 21)
		if s := <-held; len(s.Args) != full || slices.ContainsFunc(s.Args, is(f.ids[20])) {
			t.Errorf("got %d reads, want %d, without the cancelled one", len(s.Args), full)
		}
		hangUp()
		gone.wantCanceled(t)
		f.gate.Open()
		first.wantTitles(t, free)
		rest.wantTitles(t, full-1)
		if late := f.late.Load(); late > 0 {
			t.Errorf("%d rows were read for calls that had returned", late)
		}
	})
}

// is returns a function that reports whether an argument is an id.
func is(id uid.ID) func(argument any) bool {
	return func(argument any) bool {
		var got uid.ID
		return got.Scan(argument) == nil && got == id
	}
}
