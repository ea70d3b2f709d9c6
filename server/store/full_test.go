package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestFullDatabaseIsUnavailable has the database report that it is full: a real SQLite
// whose file must not grow, and servers whose errors are injected.
func TestFullDatabaseIsUnavailable(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		ctx := context.Background()
		storetest.Migrate(t, url)
		var gate storetest.Gate
		s, err := store.OpenWith(ctx, url, store.Options{Layer: gate.Layer()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		insert := func() error {
			return s.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
				for i := range 200 {
					id := fmt.Sprintf("%d-%s", i, strings.Repeat("x", 40))
					if err := tx.Application.Create().SetID(id).SetName(strings.Repeat("n", 100)).SetService(false).SetCreatedAt(1).Exec(ctx); err != nil {
						return err
					}
				}
				return nil
			})
		}
		for name, full := range fullErrors(t, s, &gate) {
			full(true)
			err := insert()
			if !errors.Is(err, store.ErrUnavailable) || !errors.Is(err, store.ErrFull) {
				t.Errorf("%s: got %v, want that the store is full", name, err)
			}
			full(false)
		}
		if err := insert(); err != nil {
			t.Errorf("with room again: %v", err)
		}
	})
}

// fullErrors returns the ways in which a database can be full. Each can be switched on
// and off.
func fullErrors(t *testing.T, s *store.Store, gate *storetest.Gate) map[string]func(bool) {
	t.Helper()
	if storetest.IsSQLite(s) {
		return map[string]func(bool){"a file that must not grow": func(full bool) {
			pages := "4294967294"
			if full {
				pages = "1" // the current number of pages
			}
			if _, err := s.DB().ExecContext(context.Background(), "PRAGMA max_page_count = "+pages); err != nil {
				t.Fatal(err)
			}
		}}
	}
	ways := map[string]func(bool){}
	for _, e := range []*mysql.MySQLError{
		{Number: 1114, Message: "The table 'clients' is full"},
		{Number: 1021, Message: "Disk full (/tmp/#sql); waiting for someone to free some space..."},
		{Number: 1041, Message: "Out of memory."},
		{Number: 1030, Message: `Got error 28 "No space left on device" from storage engine InnoDB`},
		{Number: 3, Message: "Error writing file '/tmp/MY' (Errcode: 28 \"No space left on device\")"},
	} {
		ways[fmt.Sprint(e.Number)] = func(full bool) {
			gate.Fail(nil)
			if full {
				gate.Fail(func(query string) (int, error) {
					if strings.Contains(query, "INSERT") {
						return 0, e
					}
					return 0, nil
				})
			}
		}
	}
	return ways
}
