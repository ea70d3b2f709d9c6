package store_test

import (
	"context"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/category"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestQueryOfEntLocks locks a row with a query of ent, on each kind of store.
func TestQueryOfEntLocks(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		s, recorded := storetest.OpenRecorded(t, url)
		err := s.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			_, err := tx.Category.Query().Where(category.ID(1), store.LockForUpdate).Exist(ctx)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range recorded.Sent() {
			if strings.Contains(statement.Text, "categories") && strings.HasSuffix(statement.Text, "FOR UPDATE") != (s.ForUpdate() != "") {
				t.Errorf("the statement is %s", statement.Text)
			}
		}
	})
}
