package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

// insertion is the statement of some inserts, which waits for its outcome.
type insertion struct {
	query   string
	outcome chan store.InsertOutcome
}

// insertions runs inserts whose statements the test answers.
type insertions struct {
	*store.Inserts
	sent chan insertion
}

func newInsertions() *insertions {
	all := &insertions{sent: make(chan insertion, 100)}
	all.Inserts = store.NewInserts(func(ctx context.Context, query string, _ []any) (int64, bool, error) {
		i := insertion{query, make(chan store.InsertOutcome)}
		all.sent <- i
		select {
		case o := <-i.outcome:
			return o.Rows, o.IsUnknown, o.Err
		case <-ctx.Done():
			return 0, true, nil
		}
	})
	return all
}

// insert begins an insert into the channel.
func (all *insertions) insert(ctx context.Context, channel uid.ID) <-chan store.InsertOutcome {
	done := make(chan store.InsertOutcome, 1)
	go func() {
		rows, isUnknown, err := all.Run(ctx, store.Insert{Into: "INSERT ", Select: "SELECT", ChannelID: channel})
		done <- store.InsertOutcome{Rows: rows, IsUnknown: isUnknown, Err: err}
	}()
	synctest.Wait()
	return done
}

// occupy begins as many statements as may be in flight.
func (all *insertions) occupy(t *testing.T, channel uid.ID) (first insertion) {
	t.Helper()
	for i := range store.FreeInserts {
		all.insert(t.Context(), channel)
		sent := <-all.sent
		if i == 0 {
			first = sent
		}
		if sent.query != "INSERT SELECT" {
			t.Fatalf("an uncontended insert: got %q", sent.query)
		}
	}
	return first
}

var ok = store.InsertOutcome{Rows: 1}

// TestConcurrentInsertsShareStatements has more inserts than statements may be in flight.
func TestConcurrentInsertsShareStatements(t *testing.T) {
	failure := errors.New("a failure")
	for name, c := range map[string]struct{ outcome, want store.InsertOutcome }{
		"all are inserted":      {store.InsertOutcome{Rows: 3}, ok},
		"none is inserted":      {store.InsertOutcome{}, store.InsertOutcome{}},
		"some are inserted":     {store.InsertOutcome{Rows: 2}, store.InsertOutcome{IsUnknown: true}},
		"the outcome is lost":   {store.InsertOutcome{IsUnknown: true}, store.InsertOutcome{IsUnknown: true}},
		"the statement is kept": {store.InsertOutcome{Err: failure}, store.InsertOutcome{Err: failure}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all := newInsertions()
				busy, quiet := uid.New(), uid.New()
				first := all.occupy(t, busy)
				waiting := []<-chan store.InsertOutcome{all.insert(t.Context(), busy), all.insert(t.Context(), busy)}
				other := all.insert(t.Context(), quiet)
				waiting = append(waiting, all.insert(t.Context(), busy))
				if len(all.sent) > 0 {
					t.Fatalf("%q was sent", (<-all.sent).query)
				}
				first.outcome <- ok
				shared := <-all.sent
				if want := "INSERT SELECT UNION ALL SELECT UNION ALL SELECT"; shared.query != want {
					t.Fatalf("got %q, want %q", shared.query, want)
				}
				shared.outcome <- c.outcome
				for _, done := range waiting {
					if got := <-done; got != c.want {
						t.Errorf("got %+v, want %+v", got, c.want)
					}
				}
				alone := <-all.sent
				alone.outcome <- ok
				if got := <-other; got != ok || alone.query != "INSERT SELECT" {
					t.Errorf("another channel: got %+v of %q", got, alone.query)
				}
			})
		})
	}
}

// TestWaitOfInsertIsBounded has statements in flight that hang.
func TestWaitOfInsertIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newInsertions()
		channel := uid.New()
		all.occupy(t, channel)
		start := time.Now()
		done := all.insert(t.Context(), channel)
		(<-all.sent).outcome <- ok
		if got, waited := <-done, time.Since(start); got != ok || waited != store.MaxInsertDelay {
			t.Errorf("got %+v after %s", got, waited)
		}
	})
}

// TestCallerLeavesSharedInsert ends one of two calls. The statement goes on for the other.
func TestCallerLeavesSharedInsert(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newInsertions()
		channel := uid.New()
		first := all.occupy(t, channel)
		ctx, leave := context.WithDeadline(t.Context(), time.Now().Add(10*time.Second))
		left, stays := all.insert(ctx, channel), all.insert(t.Context(), channel)
		leave()
		if got := <-left; !got.IsUnknown {
			t.Errorf("who left: got %+v", got)
		}
		first.outcome <- ok
		shared := <-all.sent
		shared.outcome <- store.InsertOutcome{Rows: 2}
		if got := <-stays; got != ok || !strings.Contains(shared.query, "UNION") {
			t.Errorf("who stays: got %+v of %q", got, shared.query)
		}
	})
}

// TestSharedInsertEndsAtLatestDeadline has a statement that hangs.
func TestSharedInsertEndsAtLatestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newInsertions()
		channel := uid.New()
		first := all.occupy(t, channel)
		start := time.Now()
		near, cancel := context.WithDeadline(t.Context(), start.Add(time.Second))
		defer cancel()
		late, cancel := context.WithDeadline(t.Context(), start.Add(3*time.Second))
		defer cancel()
		all.insert(near, channel)
		latest := all.insert(late, channel)
		first.outcome <- ok
		<-all.sent
		if got := <-latest; !got.IsUnknown || time.Since(start) != 3*time.Second {
			t.Errorf("got %+v after %s", got, time.Since(start))
		}
	})
}
