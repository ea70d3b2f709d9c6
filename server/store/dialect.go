package store

// dialect is what differs between the stores.
type dialect interface {
	name() string
	// nowSQL is an expression for the database's time in milliseconds.
	nowSQL() string
	forUpdate() string
	forShare() string
	// some is a WHERE clause for at most n of the rows that match, of a statement
	// that changes or deletes them.
	some(table, where string, n int) string
	isDuplicate(error) bool
	isNoTable(error) bool
	// retryCause names why a failed transaction is worth running again, or is
	// empty.
	retryCause(error) string
}
