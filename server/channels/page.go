package channels

import "github.com/moderato-live/moderato/server/store"

// byKey is Store.ByIndex with the primary key of a table.
func byKey(s *store.Store, table string) string {
	if s.IsEmbedded() {
		return s.ByIndex("sqlite_autoindex_" + table + "_1")
	}
	return s.ByIndex("PRIMARY")
}

// then joins the table that follows to those before it, in this order whatever the
// statistics say: a page is read along the index of its list, each row with what
// belongs to it, and ends with the last row. No rows are kept for sorting.
func then(s *store.Store) string {
	if s.IsEmbedded() {
		return " CROSS JOIN "
	}
	return " STRAIGHT_JOIN "
}
