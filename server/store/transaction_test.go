package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

func createCategories(ids ...int64) func(context.Context, *ent.Tx, store.Attempt) error {
	return func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		for _, id := range ids {
			if err := tx.Category.Create().SetID(id).SetName("n").SetSlug("s").SetImageURL("").Exec(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

func count(t *testing.T, s *store.Store) int {
	t.Helper()
	n, err := s.Read.Category.Query().Count(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestFailedTransactionIsRolledBack(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		migrate(t, url)
		s := open(t, url)
		want := errors.New("not like this")
		err := s.Write(context.Background(), func(ctx context.Context, tx *ent.Tx, a store.Attempt) error {
			if err := createCategories(1, 2)(ctx, tx, a); err != nil {
				return err
			}
			return want
		})
		if !errors.Is(err, want) || count(t, s) != 0 {
			t.Errorf("got %v and %d rows, want the body's error and none", err, count(t, s))
		}
		err = s.Write(context.Background(), createCategories(1, 2, 1))
		if !s.IsDuplicate(err) || count(t, s) != 0 {
			t.Errorf("got %v and %d rows, want a duplicate and none", err, count(t, s))
		}
	})
}

func TestPanicRollsBackTransaction(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		migrate(t, url)
		s := open(t, url)
		func() {
			defer func() { _ = recover() }()
			_ = s.Write(context.Background(), func(ctx context.Context, tx *ent.Tx, a store.Attempt) error {
				_ = createCategories(1)(ctx, tx, a)
				panic("boom")
			})
		}()
		if err := s.Write(context.Background(), createCategories(1)); err != nil || count(t, s) != 1 {
			t.Errorf("afterwards: %v and %d rows, want none and 1", err, count(t, s))
		}
	})
}

// TestDeadlockIsRetried has two transactions lock the same rows in opposite order; each
// waits until both hold their first lock.
func TestDeadlockIsRetried(t *testing.T) {
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		migrate(t, url)
		s := open(t, url)
		if err := s.Write(context.Background(), createCategories(1, 2)); err != nil {
			t.Fatal(err)
		}
		var runs atomic.Int32
		var bothHold, end sync.WaitGroup
		bothHold.Add(2)
		for _, order := range [][2]int64{{1, 2}, {2, 1}} {
			end.Go(func() {
				first := true
				err := s.Write(context.Background(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
					runs.Add(1)
					name := fmt.Sprintf("by %d", order[0])
					if err := tx.Category.UpdateOneID(order[0]).SetName(name).Exec(ctx); err != nil {
						return err
					}
					if first {
						first = false
						bothHold.Done()
						bothHold.Wait()
					}
					return tx.Category.UpdateOneID(order[1]).SetName(name).Exec(ctx)
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		end.Wait()
		if got := runs.Load(); got != 3 {
			t.Errorf("the bodies ran %d times, want 3: both, and the deadlock's victim again", got)
		}
		names, err := s.Read.Category.Query().All(context.Background())
		if err != nil || names[0].Name != names[1].Name {
			t.Errorf("the rows are of two transactions: %v (%v)", names, err)
		}
	})
}

// TestWritersOfOneFileAreSerialized opens the same SQLite file twice, like two processes.
func TestWritersOfOneFileAreSerialized(t *testing.T) {
	url := storetest.SQLite(t)
	migrate(t, url)
	var all sync.WaitGroup
	for p := range 2 {
		s := open(t, url)
		for i := range 50 {
			all.Go(func() {
				if err := s.Write(context.Background(), createCategories(int64(100*p+i))); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	if got := count(t, open(t, url)); got != 100 {
		t.Errorf("%d rows, want 100", got)
	}
}

func TestClockMatchesLocalTime(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		s := open(t, url)
		before := s.Clock.Local()
		now, err := s.Clock.Now(context.Background(), s.Read)
		if err != nil {
			t.Fatal(err)
		}
		if after := s.Clock.Local(); now < before-5 || now > after+5 {
			t.Errorf("the database's time is %s, between %s and %s here", now, before, after)
		}
	})
}

// TestStatementThatExceedsItsBoundIsRetried has the database server end a statement.
func TestStatementThatExceedsItsBoundIsRetried(t *testing.T) {
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		migrate(t, url)
		s, err := store.OpenBounded(t.Context(), url, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		attempts := 0
		err = s.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, a store.Attempt) error {
			attempts++
			if err := createCategories(1)(ctx, tx, a); err != nil || !a.IsFirst {
				return err
			}
			err := store.QueryRow(ctx, tx, "SELECT id FROM categories WHERE SLEEP(30) = 0", nil, new(int64))
			if !errors.Is(s.Classify(err), store.ErrUnavailable) {
				t.Errorf("got %v, want that the store is unavailable", err)
			}
			return err
		})
		if err != nil || attempts != 2 || count(t, s) != 1 {
			t.Errorf("got %v, %d attempts and %d rows, want success, 2 and 1", err, attempts, count(t, s))
		}
	})
}
