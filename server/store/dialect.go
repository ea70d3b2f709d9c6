package store

// dialect is what differs between the stores.
type dialect interface {
	name() string
	// nowSQL is an expression for the database's time in milliseconds.
	nowSQL() string
	forUpdate() string
	isDuplicate(error) bool
	isNoTable(error) bool
	// retryCause names why a failed transaction is worth running again, or is
	// empty.
	retryCause(error) string
}
