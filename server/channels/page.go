package channels

import (
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/fault"
	"github.com/moderato-live/moderato/server/store"
)

// readCursor reads where a list goes on. list names the operation with its
// channel and filters; an empty cursor leaves place as it is, at the start.
func readCursor(list, cursor string, place any) error {
	if cursor != "" && store.DecodeCursor(list, cursor, place) != nil {
		return fault.New(moderatov1.Reason_REASON_CURSOR_INVALID)
	}
	return nil
}

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

// byIndex follows a table's name and has it read by an index, whatever the
// statistics say: a store that guesses wrong reads all that a channel has.
func byIndex(s *store.Store, index string) string {
	if s.IsEmbedded() {
		return " INDEXED BY " + index
	}
	return " FORCE INDEX (" + index + ")"
}

// byKey is byIndex with the primary key of a table.
func byKey(s *store.Store, table string) string {
	if s.IsEmbedded() {
		return byIndex(s, "sqlite_autoindex_"+table+"_1")
	}
	return byIndex(s, "PRIMARY")
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

// cut takes the rows of a page from up to limit+1 rows that were read, and makes
// the cursor for the next page from the last row's place. There is one exactly
// if the row beyond the page is there.
func cut[Row any](list string, rows []Row, limit int, place func(Row) any) ([]Row, *moderatov1.Pagination, error) {
	if len(rows) <= limit {
		return rows, &moderatov1.Pagination{}, nil
	}
	rows = rows[:limit]
	cursor, err := store.EncodeCursor(list, place(rows[limit-1]))
	return rows, &moderatov1.Pagination{Cursor: cursor}, err
}
