package store_test

import (
	"testing"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

var countCategories = store.Declare(func(*store.Dialect, struct{}) (string, []any) { return "SELECT COUNT(*) FROM categories", nil })

// TestSnapshotSeesOneInstant adds a category between the reads of a snapshot.
func TestSnapshotSeesOneInstant(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		storetest.Migrate(t, url)
		s, err := store.Open(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		count := func(of *store.Store) (byEnt int, declared int64) {
			t.Helper()
			byEnt, err := of.Read.Category.Query().Count(t.Context())
			if err == nil {
				err = countCategories.One(t.Context(), of, struct{}{}, func(r *store.Row) { declared = r.Int() })
			}
			if err != nil {
				t.Fatal(err)
			}
			return byEnt, declared
		}
		before, _ := count(s)
		err = s.Snapshot(t.Context(), func(of *store.Store) error {
			count(of)
			_, err := s.DB().ExecContext(t.Context(), "INSERT INTO categories (id, name, slug, image_url) VALUES (77, 'a', 'a', '')")
			if byEnt, declared := count(of); byEnt != before || declared != int64(before) {
				t.Errorf("the snapshot has %d categories by ent, %d by a statement; want %d", byEnt, declared, before)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if byEnt, declared := count(s); byEnt != before+1 || declared != int64(before+1) {
			t.Errorf("after the snapshot there are %d and %d categories, want %d", byEnt, declared, before+1)
		}
	})
}
