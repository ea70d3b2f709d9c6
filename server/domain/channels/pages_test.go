package channels_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moderato-live/moderato/server/domain/channels"
	"github.com/moderato-live/moderato/test/storetest"
)

// traverse reads all pages. It runs between after each page that has a next page.
func (l pagedList) traverse(t *testing.T, s *channels.Service, limit *int32, between func()) []string {
	t.Helper()
	size := 20
	if limit != nil {
		size = int(*limit)
	}
	var all []string
	for cursor := ""; ; {
		rows, pagination, err := l.page(s, cursor, limit)
		if err != nil {
			t.Fatalf("%s: %v", l.name, err)
		}
		cursor = pagination.GetCursor()
		if len(rows) > size || (cursor != "" && len(rows) != size) {
			t.Fatalf("%s: a page has %d rows and the cursor %q, want %d", l.name, len(rows), cursor, size)
		}
		all = append(all, rows...)
		if cursor == "" {
			return all
		}
		if between != nil {
			between()
		}
	}
}

// TestListsAreCompleteAndSorted reads lists in which many rows share their sort key, in
// pages of every size, including divisors of the number of rows and their neighbors. Rows
// that the list leaves out are among them.
func TestListsAreCompleteAndSorted(t *testing.T) {
	eachService(t, func(t *testing.T, s *channels.Service) {
		r := rand.New(rand.NewPCG(3, 5))
		for _, l := range pagedLists() {
			l.empty(t, s.Store)
			if l.name != "followed" {
				rows, pagination, err := l.page(s, "", nil)
				if err != nil || len(rows) != 0 || pagination.GetCursor() != "" {
					t.Errorf("%s, empty: got %v, %v, %v", l.name, rows, pagination, err)
				}
			}
			var items []item
			for n := range 60 {
				items = append(items, randomItem(r, 1_700_000_000_000+int64(n)/7, int64(n+1)))
			}
			l.put(t, s.Store, l.ownerID, items...)
			if l.owner == "channel_id" { // rows of another channel among them
				l.put(t, s.Store, other, randomItem(r, 1_700_000_000_003, 1000+r.Int64N(1e9)), randomItem(r, 1_800_000_000_000, r.Int64()))
			}
			if l.filtered != nil {
				l.insert(t, s.Store, l.ownerID, l.filtered, randomItem(r, 1_700_000_000_002, 500), randomItem(r, 1_700_000_000_004, 501))
			}
			want := l.sorted(items)
			for _, size := range []*int32{nil, limit(1), limit(3), limit(7), limit(19), limit(20), limit(l.most)} {
				if diff := cmp.Diff(want, l.traverse(t, s, size, nil)); diff != "" {
					t.Errorf("%s, limit %v: %s", l.name, size, diff)
				}
			}
		}
	})
}

func TestListLimits(t *testing.T) {
	eachService(t, func(t *testing.T, s *channels.Service) {
		for _, l := range pagedLists() {
			for _, n := range []int32{0, -1, l.most + 1, 1 << 30} {
				_, _, err := l.page(s, "", limit(n))
				wantCode(t, fmt.Sprintf("%s, limit %d", l.name, n), err, "INVALID_ARGUMENT")
			}
			_, _, err := l.page(s, "", limit(l.most))
			wantCode(t, l.name+", greatest limit", err, "OK")
		}
	})
}

// TestCursorIsBoundToItsList tries the cursor of every list on every other list, and
// damaged cursors.
func TestCursorIsBoundToItsList(t *testing.T) {
	eachService(t, func(t *testing.T, s *channels.Service) {
		r := rand.New(rand.NewPCG(8, 13))
		emptied := map[string]bool{}
		for _, l := range pagedLists() {
			if key := l.table + l.owner; !emptied[key] {
				emptied[key] = true
				for n := range 3 {
					l.put(t, s.Store, l.ownerID, randomItem(r, int64(n), int64(n+1)))
				}
			}
		}
		for _, from := range pagedLists() {
			_, pagination, err := from.page(s, "", limit(1))
			if err != nil || pagination.GetCursor() == "" {
				t.Fatalf("%s: got %v, %v, want a cursor", from.name, pagination, err)
			}
			cursor := pagination.GetCursor()
			for _, to := range pagedLists() {
				want := "CURSOR_INVALID"
				if to.name == from.name {
					want = "OK"
				}
				_, _, err := to.page(s, cursor, nil)
				wantCode(t, "a cursor of "+from.name+" in "+to.name, err, want)
			}
			for n := range cursor {
				damaged := []byte(cursor)
				damaged[n] ^= 1
				_, _, err := from.page(s, string(damaged), nil)
				wantCode(t, fmt.Sprintf("%s, character %d of the cursor changed", from.name, n), err, "CURSOR_INVALID")
			}
			for _, damaged := range []string{"x", cursor[:len(cursor)-1], cursor + "A", cursor + "=", " " + cursor, cursor + "\n"} {
				_, _, err := from.page(s, damaged, nil)
				wantCode(t, fmt.Sprintf("%s, cursor %q", from.name, damaged), err, "CURSOR_INVALID")
			}
		}
	})
}

// schedules is the number of random runs of TestPaginationDuringConcurrentChanges, which
// the stores share.
const schedules = 1000

// TestPaginationDuringConcurrentChanges reads pages while rows are added and deleted.
// Each row that exists all the time must appear exactly once, and no other row twice.
func TestPaginationDuringConcurrentChanges(t *testing.T) {
	const seed = 20261121
	t.Logf("seed %d, %d schedules", seed, schedules)
	eachService(t, func(t *testing.T, s *channels.Service) {
		all := pagedLists()
		for n := range storetest.Share(t, schedules) {
			runSchedule(t, s, all[n%len(all)], rand.New(rand.NewPCG(seed, uint64(n))))
			if t.Failed() {
				t.Fatalf("in schedule %d of seed %d", n, seed)
			}
		}
	})
}

func runSchedule(t *testing.T, s *channels.Service, l pagedList, r *rand.Rand) {
	t.Helper()
	number := int64(0)
	create := func() item {
		number++
		return randomItem(r, 1_700_000_000_000+r.Int64N(6), number)
	}
	var staying, passing []item
	for range 1 + r.IntN(15) {
		staying = append(staying, create())
	}
	for range r.IntN(10) {
		passing = append(passing, create())
	}
	l.empty(t, s.Store)
	l.put(t, s.Store, l.ownerID, append(slices.Clone(staying), passing...)...)
	known := append(slices.Clone(staying), passing...)
	got := l.traverse(t, s, limit(1+r.Int32N(5)), func() {
		for range r.IntN(4) {
			if len(passing) > 0 && r.IntN(2) == 0 {
				n := r.IntN(len(passing))
				l.remove(t, s.Store, passing[n])
				passing = slices.Delete(passing, n, n+1)
				continue
			}
			i := create()
			l.put(t, s.Store, l.ownerID, i)
			passing, known = append(passing, i), append(known, i)
		}
	})
	seen := map[string]int{}
	for _, id := range got {
		seen[id]++
		if seen[id] > 1 {
			t.Errorf("%s: %s appears twice", l.name, id)
		}
	}
	for _, i := range staying {
		if seen[l.identity(i)] != 1 {
			t.Errorf("%s: %s existed all the time and appears %d times", l.name, l.identity(i), seen[l.identity(i)])
		}
	}
	inOrder := slices.DeleteFunc(l.sorted(known), func(id string) bool { return seen[id] == 0 })
	if diff := cmp.Diff(inOrder, got); diff != "" {
		t.Errorf("%s: not in order, or not rows of the list: %s", l.name, diff)
	}
}
