package store

// dialect is what differs between the stores.
type dialect interface {
	name() string
	// nowSQL is an expression for the database's time in milliseconds.
	nowSQL() string
	forUpdate() string
	forShare() string
	// boundIdle is the statements at the begin and end of a transaction that the
	// server is to give up when its client is silent for so long; empty where
	// there is no server.
	boundIdle(seconds int) (begin, end string)
	byIndex(index string) string
	after(keyColumn, tieColumn, comparison string, key, tie any) (condition string, args []any)
	// some is a WHERE clause for at most n of the rows that match, of a statement
	// that changes or deletes them.
	some(table, where string, n int) string
	isDuplicate(error) bool
	isNoTable(error) bool
	// retryCause names why a failed transaction is worth running again, or is
	// empty.
	retryCause(error) string
	// isFull reports whether a statement failed because there is no room to store
	// what it writes. To run it again soon would not help.
	isFull(error) bool
}
