package listing

import "github.com/moderato-live/moderato/server/store"

// ByKey returns Store.ByIndex for the primary key of a table.
func ByKey(s *store.Store, table string) string {
	if s.IsEmbedded() {
		return s.ByIndex("sqlite_autoindex_" + table + "_1")
	}
	return s.ByIndex("PRIMARY")
}

// Then returns the join operator that makes the database read tables in the order of the
// statement, whatever the statistics say. The database reads a page along the index of
// its list, each row with its joined rows, and stops after the last row. It does not
// collect rows for sorting.
func Then(s *store.Store) string {
	if s.IsEmbedded() {
		return " CROSS JOIN "
	}
	return " STRAIGHT_JOIN "
}
