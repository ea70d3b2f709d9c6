package store

// dialect holds the differences between the supported databases.
type dialect interface {
	name() string
	// nowSQL returns an expression for the database's time in milliseconds.
	nowSQL() string
	forUpdate() string
	forShare() string
	// boundIdle returns the statements for the beginning and end of a transaction
	// that the database server must abort when its client is silent for that many
	// seconds; they are empty for an embedded database.
	boundIdle(seconds int) (begin, end string)
	byIndex(index string) string
	after(keyColumn, tieColumn, comparison string, key, tie any) (condition string, args []any)
	// some returns a WHERE clause for at most n of the rows that match, for an UPDATE
	// or DELETE.
	some(table, where string, n int) string
	isDuplicate(error) bool
	isNoTable(error) bool
	// retryCause returns the reason to retry a failed transaction; empty if it must
	// not be retried.
	retryCause(error) string
	// isFull reports whether a statement failed because the database has no room for
	// its data. A retry soon would not help.
	isFull(error) bool
}
