package channels

import "github.com/moderato-live/moderato/server/store"

// after is the condition for the rows of a list that come after a place, key and
// tie, both descending: in the form that each store turns into ranges of an
// index over both columns, so that a page costs the same anywhere in the list
// and however many rows share a key.
func after(s *store.Store, keyColumn, tieColumn string, key, tie any) (condition string, args []any) {
	if s.IsEmbedded() {
		return "(" + keyColumn + ", " + tieColumn + ") < (?, ?)", []any{key, tie}
	}
	return "(" + keyColumn + " < ? OR (" + keyColumn + " = ? AND " + tieColumn + " < ?))", []any{key, key, tie}
}

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
