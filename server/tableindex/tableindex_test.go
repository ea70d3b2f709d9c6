package tableindex_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/moderato-live/moderato/server/tableindex"
	"github.com/moderato-live/moderato/server/uid"
)

var (
	quiet = uid.MustParse("0b6f0001-0000-4000-8000-000000000001")
	busy  = uid.MustParse("0b6f0001-0000-4000-8000-000000000002")
)

// recorder loads values, each as large as its key, and records which.
type recorder struct {
	*tableindex.Index[int, string]

	loaded []int
}

func record(budget int) *recorder {
	r := &recorder{}
	r.Index = tableindex.New(budget, func(_ context.Context, key int) (string, int, error) {
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
	r.Replace(map[uid.ID][]int{busy: {1, 2}})
	r.wantLoaded(t)
	r.get(t, busy, 1, 1, 0, 1)
	r.wantLoaded(t, 2, 1)
	r.Replace(map[uid.ID][]int{busy: {3, 2}, quiet: {1}})
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
	r.Replace(map[uid.ID][]int{busy: {6, 7, 5}, quiet: {4}})
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
	r.Replace(map[uid.ID][]int{busy: {11}, quiet: {4}})
	r.get(t, quiet, 0)
	r.get(t, busy, 0, 0)
	r.get(t, quiet, 0)
	r.wantLoaded(t, 4, 11, 11)
}

func TestRowThatWasRemovedTakesNoMemory(t *testing.T) {
	t.Parallel()
	r := record(10)
	r.Replace(map[uid.ID][]int{busy: {9}})
	removed := r.Of(busy)[0]
	r.Replace(map[uid.ID][]int{busy: {8}})
	if _, err := r.Get(t.Context(), busy, removed); err != nil {
		t.Fatal(err)
	}
	r.get(t, busy, 0, 0)
	r.wantLoaded(t, 9, 8)
}

func TestErrorOfLoadIsReturnedAndNotKept(t *testing.T) {
	t.Parallel()
	r := record(10)
	r.Replace(map[uid.ID][]int{busy: {-1}})
	if _, err := r.Get(t.Context(), busy, r.Of(busy)[0]); err == nil {
		t.Error("got no error")
	}
}
