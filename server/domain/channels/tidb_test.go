package channels_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestPagesOfTiDB counts what TiDB reads for a page of a long list. It reads some entries of the
// index ahead, but not the list.
func TestPagesOfTiDB(t *testing.T) {
	const rows, most = 10_000, 3_000
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		s, sent := openRecorded(t, url)
		if !storetest.IsTiDB(t, s) {
			t.Skip("TestQueryPlans counts the rows that other databases read")
		}
		servertest.Import(t, s, servertest.World()...)
		service, r := newService(s), rand.New(rand.NewPCG(3, 4))
		for _, l := range pagedLists() {
			if !slices.Contains([]string{"VIPs", "followers", "followed", "subscribers", "banned users", "raids"}, l.name) {
				continue // joins nothing, or is selected by a subquery on all databases
			}
			items := make([]item, rows)
			for n := range items {
				items[n] = randomItem(r, 1_700_000_000_000+int64(n), int64(n))
			}
			for some := range slices.Chunk(items, 500) {
				l.put(t, s, l.ownerID, some...)
			}
			analyze(t, s, l.table)
			analyze(t, s, "users")
			cursor := ""
			for page := 1; page <= 3; page++ {
				_, pagination, err := l.page(service, cursor, limit(20))
				if err != nil || pagination.GetCursor() == "" {
					t.Fatalf("%s: got %v, %v, want more", l.name, pagination, err)
				}
				cursor = pagination.GetCursor()
				q := sent.of(t, l.table)
				if got := storetest.RowsReadByTiDB(t, s, q); got > most {
					t.Errorf("%s, page %d reads %d rows:\n%s", l.name, page, got, storetest.Explain(t, s, q))
				}
			}
		}
	})
}
