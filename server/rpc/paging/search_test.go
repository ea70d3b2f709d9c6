package paging_test

import (
	"context"
	"slices"
	"testing"

	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// counted is a search in the numbers 1 to last, which counts the numbers that it reads.
func counted(s *store.Store, last, max int, matches func(int) bool) (list paging.Search[int, int], examined *int) {
	examined = new(int)
	return paging.Search[int, int]{
		Store: s, Name: "numbers", Max: max, Matches: matches,
		Read: func(_ context.Context, after, limit int) (rows []int, err error) {
			for n := after + 1; n <= min(last, after+limit); n++ {
				rows = append(rows, n)
			}
			*examined += len(rows)
			return rows, nil
		},
		Place: func(n int) int { return n },
	}, examined
}

// wantPages reads all pages of a list.
func wantPages(t *testing.T, list paging.Search[int, int], limit int, want ...[]int) {
	t.Helper()
	cursor := ""
	for n := 0; n == 0 || cursor != ""; n++ {
		page, pagination, err := list.Page(t.Context(), cursor, 0, limit)
		if err != nil || n >= len(want) || !slices.Equal(page, want[n]) {
			t.Fatalf("page %d: got %v, %v, want one of %v", n, page, err, want)
		}
		if cursor = pagination.GetCursor(); (cursor == "") != (n == len(want)-1) {
			t.Fatalf("page %d of %d: got the cursor %q", n, len(want), cursor)
		}
	}
}

func TestSearch(t *testing.T) {
	s := servertest.Start(t, servertest.Config(storetest.SQLite(t))).Store
	every := func(divisor int) func(int) bool { return func(n int) bool { return n%divisor == 0 } }

	t.Run("without a condition", func(t *testing.T) {
		list, examined := counted(s, 5, 10, nil)
		wantPages(t, list, 2, []int{1, 2}, []int{3, 4}, []int{5})
		if *examined != 3+3+1 {
			t.Errorf("it reads %d rows, want one more than each page has", *examined)
		}
	})
	t.Run("matches far apart", func(t *testing.T) {
		list, _ := counted(s, 5000, 10_000, every(1500))
		wantPages(t, list, 2, []int{1500, 3000}, []int{4500})
		wantPages(t, list, 3, []int{1500, 3000, 4500})
	})
	t.Run("no match", func(t *testing.T) {
		list, examined := counted(s, 5000, 10_000, every(10_000))
		wantPages(t, list, 2, nil)
		if *examined != 5000 {
			t.Errorf("it reads %d rows, want each once", *examined)
		}
	})
	t.Run("more rows than a page examines", func(t *testing.T) {
		list, examined := counted(s, 5000, 2200, every(4500))
		wantPages(t, list, 2, nil, nil, []int{4500})
		if *examined != 5000 {
			t.Errorf("it reads %d rows, want each once", *examined)
		}
		*examined = 0
		if _, _, err := list.Page(t.Context(), "", 0, 2); err != nil || *examined != 2200 {
			t.Errorf("a page examines %d rows, %v, want 2200", *examined, err)
		}
	})
}
