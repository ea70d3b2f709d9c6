package storetest

import (
	"modernc.org/sqlite"

	"github.com/moderato-live/moderato/server/store"
)

// IsSQLite reports whether a store is on SQLite, for tests of what differs between the
// kinds of store, such as the plans of queries.
func IsSQLite(s *store.Store) bool {
	_, isSQLite := s.DB().Driver().(*sqlite.Driver)
	return isSQLite
}
