package tableindex_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/moderato-live/moderato/internal/tableindex"
	"github.com/moderato-live/moderato/internal/uid"
)

var (
	quiet = uid.MustParse("0b6f0001-0000-4000-8000-000000000001")
	busy  = uid.MustParse("0b6f0001-0000-4000-8000-000000000002")
)

// recorder loads values, each as large as its key, and records which.
type recorder struct {
	*tableindex.Index[int, string]

	keys   map[uid.ID][]int
	loaded []int
}

// replace refreshes the index from a table with some rows.
func (r *recorder) replace(t *testing.T, keys map[uid.ID][]int) {
	t.Helper()
	r.keys = keys
	if err := r.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func record(budget int) *recorder {
	r := &recorder{}
	read := func(context.Context) (map[uid.ID][]int, error) { return r.keys, nil }
	r.Index = tableindex.New(budget, read, func(_ context.Context, key int) (string, int, error) {
		if key < 0 {
			return "", 0, errors.New("does not load")
		}
		r.loaded = append(r.loaded, key)
		return string(rune('a' + key)), key, nil
	})
	return r
}

// get gets the values of a channel's rows at some places.
func (r *recorder) get(t *testing.T, channelID uid.ID, places ...int) {
	t.Helper()
	for _, place := range places {
		row := r.Of(channelID)[place]
		if v, err := r.Get(t.Context(), channelID, row); err != nil || v != string(rune('a'+row.Key)) {
			t.Fatalf("row %d: got %q, %v", row.Key, v, err)
		}
	}
}

// wantLoaded checks which values were loaded since the last check.
func (r *recorder) wantLoaded(t *testing.T, keys ...int) {
	t.Helper()
	if !slices.Equal(r.loaded, keys) {
		t.Errorf("loaded %v, want %v", r.loaded, keys)
	}
	r.loaded = nil
}

func TestValuesAreMadeOnceAndWhenNeeded(t *testing.T) {
	t.Parallel()
	r := record(100)
	r.replace(t, map[uid.ID][]int{busy: {1, 2}})
	r.wantLoaded(t)
	r.get(t, busy, 1, 1, 0, 1)
	r.wantLoaded(t, 2, 1)
	r.replace(t, map[uid.ID][]int{busy: {3, 2}, quiet: {1}})
	r.get(t, busy, 0, 1)
	r.wantLoaded(t, 3)
	if rows := r.Of(uid.New()); len(rows) != 0 {
		t.Errorf("a channel without rows has %d", len(rows))
	}
}

// TestLargestChannelMakesRoom fills the budget: the channel that has most of it loses the value
// that was not used for the longest time, and another channel loses nothing.
func TestLargestChannelMakesRoom(t *testing.T) {
	t.Parallel()
	r := record(20)
	r.replace(t, map[uid.ID][]int{busy: {6, 7, 5}, quiet: {4}})
	r.get(t, quiet, 0)
	r.get(t, busy, 0, 1, 0, 2) // 22 bytes: the 7 goes
	r.wantLoaded(t, 4, 6, 7, 5)
	r.get(t, quiet, 0)
	r.get(t, busy, 0, 2)
	r.wantLoaded(t)
	r.get(t, busy, 1) // the 6 goes
	r.get(t, busy, 2, 1)
	r.wantLoaded(t, 7)
	r.get(t, busy, 0)
	r.wantLoaded(t, 6)
}

// TestValueLargerThanBudgetIsNotKept gets such a value, which must not keep others out.
func TestValueLargerThanBudgetIsNotKept(t *testing.T) {
	t.Parallel()
	r := record(10)
	r.replace(t, map[uid.ID][]int{busy: {11}, quiet: {4}})
	r.get(t, quiet, 0)
	r.get(t, busy, 0, 0)
	r.get(t, quiet, 0)
	r.wantLoaded(t, 4, 11, 11)
}

func TestRowThatWasRemovedTakesNoMemory(t *testing.T) {
	t.Parallel()
	r := record(10)
	r.replace(t, map[uid.ID][]int{busy: {9}})
	removed := r.Of(busy)[0]
	r.replace(t, map[uid.ID][]int{busy: {8}})
	if _, err := r.Get(t.Context(), busy, removed); err != nil {
		t.Fatal(err)
	}
	r.get(t, busy, 0, 0)
	r.wantLoaded(t, 9, 8)
}

func TestErrorOfLoadIsReturnedAndNotKept(t *testing.T) {
	t.Parallel()
	r := record(10)
	r.replace(t, map[uid.ID][]int{busy: {-1}})
	if _, err := r.Get(t.Context(), busy, r.Of(busy)[0]); err == nil {
		t.Error("got no error")
	}
}

// TestRefreshesFollowEachOther begins a refresh while another one reads an earlier table: the
// index is that of the later one. A refresh that fails leaves the index as it is.
func TestRefreshesFollowEachOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		table, slow := []int{1}, make(chan struct{})
		fails := false
		x := tableindex.New(1, func(ctx context.Context) (map[uid.ID][]int, error) {
			rows := table
			select {
			case <-slow:
			case <-ctx.Done():
			}
			if fails {
				return nil, errors.New("no table")
			}
			return map[uid.ID][]int{busy: rows}, ctx.Err()
		}, func(context.Context, int) (string, int, error) { return "", 0, nil })
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { first <- x.Refresh(t.Context()) }()
		synctest.Wait()
		go func() { second <- x.Refresh(t.Context()) }()
		synctest.Wait()
		table = []int{1, 2}
		close(slow)
		if err := errors.Join(<-first, <-second); err != nil {
			t.Fatal(err)
		}
		if n := len(x.Of(busy)); n != 2 {
			t.Errorf("the index has %d rows, want those of the second refresh", n)
		}
		fails = true
		if err := x.Refresh(t.Context()); err == nil || len(x.Of(busy)) != 2 {
			t.Errorf("a refresh that fails: %v, and %d rows", err, len(x.Of(busy)))
		}
		fails, slow = false, make(chan struct{})
		if err := x.Refresh(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a read that does not end: %v", err)
		}
	})
}
