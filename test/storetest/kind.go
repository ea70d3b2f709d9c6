package storetest

import (
	"strings"
	"testing"

	"modernc.org/sqlite"

	"github.com/moderato-live/moderato/server/store"
)

// IsTiDB reports whether a store is on TiDB, for the few tests of what differs there.
func IsTiDB(t testing.TB, s *store.Store) bool {
	t.Helper()
	var version string
	if err := s.DB().QueryRowContext(t.Context(), "SELECT VERSION()").Scan(&version); err != nil && !IsSQLite(s) {
		t.Fatal(err)
	}
	return strings.Contains(version, "TiDB")
}

// IsSQLite reports whether a store is on SQLite, for tests of what differs between the
// kinds of store, such as the plans of queries.
func IsSQLite(s *store.Store) bool {
	_, isSQLite := s.DB().Driver().(*sqlite.Driver)
	return isSQLite
}
