package storetest_test

import (
	"bytes"
	"log/slog"
	"maps"
	"path"
	"sync"
	"testing"

	"github.com/moderato-live/moderato/ent/migrate"
	"github.com/moderato-live/moderato/ent/migrations/drift"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

// database is the result of the migrations: the number of rows of each table, and the key
// for cursors.
type database struct {
	rows map[string]int
	key  []byte
}

func read(t *testing.T, url store.URL) database {
	t.Helper()
	s, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if statements, err := drift.Statements(t.Context(), s); err != nil || len(statements) > 0 {
		t.Errorf("the database needs %q (%v), want no change", statements, err)
	}
	d := database{rows: map[string]int{}}
	tables := []string{"goose_db_version"}
	for _, table := range migrate.Tables {
		tables = append(tables, table.Name)
	}
	for _, table := range tables {
		var n int
		if err := s.DB().QueryRow("SELECT COUNT(*) FROM " + table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		d.rows[table] = n
	}
	if err := s.DB().QueryRow("SELECT secret FROM cursor_keys").Scan(&d.key); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestMigrateMatchesMigrations compares copies with databases of the same kind
// that were migrated step by step.
func TestMigrateMatchesMigrations(t *testing.T) {
	var mu sync.Mutex
	migrated := map[string]database{} // by kind of store
	t.Run("step by step", func(t *testing.T) {
		storetest.EachNew(t, func(t *testing.T, url store.URL) {
			if err := store.Migrate(t.Context(), url, slog.New(slog.DiscardHandler)); err != nil {
				t.Fatal(err)
			}
			d := read(t, url)
			mu.Lock()
			defer mu.Unlock()
			migrated[path.Base(t.Name())] = d
		})
	})
	keys := migrated
	for _, copies := range []string{"a copy", "another copy"} {
		next := map[string]database{}
		t.Run(copies, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, url store.URL) {
				storetest.Migrate(t, url)
				d := read(t, url)
				kind := path.Base(t.Name())
				if want := migrated[kind].rows; !maps.Equal(d.rows, want) {
					t.Errorf("the rows are %v, want %v", d.rows, want)
				}
				if bytes.Equal(d.key, keys[kind].key) {
					t.Error("two databases have the same key for cursors")
				}
				mu.Lock()
				defer mu.Unlock()
				next[kind] = d
			})
		})
		keys = next
	}
}
