package store_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
)

// TestReadingChangesNeedOneSavepoint lets changes that only read share a transaction with
// changes that write. A change sets a savepoint only if an earlier one has written since the
// last savepoint, and a change that fails undoes nothing that earlier changes wrote.
func TestReadingChangesNeedOneSavepoint(t *testing.T) {
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		migrate(t, url)
		var sent storetest.Recorder
		s, err := store.OpenWith(t.Context(), url, store.Options{Layer: sent.Layer()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		c := newCrowd(t, s)
		refused := errors.New("refused")
		read := func(err error) changeBody {
			return func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
				_, failed := tx.Category.Query().Count(ctx)
				return cmp.Or(failed, err)
			}
		}
		refuse := func(context.Context, *ent.Tx, store.Attempt) error { return refused }
		release, first := c.hold(1)
		others := c.queue(read(nil), read(nil), read(refused), c.create(2, refuse), c.create(3), read(refused), read(nil))
		release()
		c.wantSuccess(first, others[0], others[1], others[4], others[6])
		for _, i := range []int{2, 3, 5} {
			if err := <-others[i]; !errors.Is(err, refused) {
				c.Errorf("got %v, want the error of the body", err)
			}
		}
		c.wantRows(1, 3)
		var got []string
		for _, statement := range sent.Executed() {
			verb, _, _ := strings.Cut(statement.Text, " ")
			if slices.Contains([]string{"SAVEPOINT", "ROLLBACK", "INSERT"}, verb) {
				got = append(got, verb)
			}
		}
		// The second ROLLBACK undoes the INSERT before it.
		want := []string{"INSERT", "SAVEPOINT", "ROLLBACK", "INSERT", "ROLLBACK", "INSERT", "SAVEPOINT", "ROLLBACK"}
		if diff := gocmp.Diff(want, got); diff != "" {
			c.Errorf("statements (-want +got):\n%s", diff)
		}
	})
}
