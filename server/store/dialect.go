package store

import (
	"context"
	"database/sql"

	entdialect "entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/pressly/goose/v3"
)

// Dialect returns the parts of statements that differ between the supported databases.
type Dialect struct {
	// Clock is the database's clock.
	Clock *Clock

	dialect dialect
}

func newDialect(d dialect) *Dialect { return &Dialect{Clock: &Clock{sql: d.nowSQL()}, dialect: d} }

// Name returns the name that ent has for the database.
func (d *Dialect) Name() string { return d.dialect.name() }

// ForUpdate returns the end of a SELECT that locks its rows until the transaction ends.
// It is empty on SQLite, where a transaction that writes locks the database from its
// start.
func (d *Dialect) ForUpdate() string { return d.dialect.forUpdate() }

// LockForUpdate is ForUpdate for a query of ent, among the conditions of its Where.
func LockForUpdate(s *entsql.Selector) {
	if s.Dialect() != entdialect.SQLite {
		s.ForUpdate()
	}
}

// ForUpdateNoWait is ForUpdate for a SELECT that fails if another transaction holds the
// lock of a row: see IsLocked.
func (d *Dialect) ForUpdateNoWait() string { return d.dialect.forUpdateNoWait() }

// ForShare returns the end of a SELECT that prevents changes of its rows until the
// transaction ends.
func (d *Dialect) ForShare() string { return d.dialect.forShare() }

// ByIndex returns a clause to put after a table's name that forces the use of an index,
// regardless of statistics: a database that chooses wrongly reads all rows of a channel.
func (d *Dialect) ByIndex(index string) string { return d.dialect.byIndex(index) }

// ByPrimaryKey is ByIndex for the primary key of a table.
func (d *Dialect) ByPrimaryKey(table string) string {
	return d.dialect.byIndex(d.dialect.primaryKey(table))
}

// IDColumn returns the placeholder for an id in the column list of a SELECT. On a database
// server, it casts the id to binary, because MySQL would return it as text.
func (d *Dialect) IDColumn() string { return d.dialect.idColumn() }

// RowNumber returns the column by which the database stores the rows of a table, in the order
// in which they were inserted. It is empty if the rows are stored by their primary key.
func (d *Dialect) RowNumber() string { return d.dialect.rowNumber() }

// OrderedJoin returns the join operator that makes the database read tables in the order of the
// statement, whatever the statistics say. The database reads a page along the index of
// its list, each row with its joined rows, and stops after the last row. It does not
// collect rows for sorting.
func (d *Dialect) OrderedJoin() string { return d.dialect.orderedJoin() }

// Page is a page of a list: rows of one table. The other tables of its statement are joined to
// these rows, and their conditions select none of them.
type Page struct {
	Table string
	// By is the clause of the index that has the order of the list: see ByIndex.
	By string
	// Where and Order are the condition and the order of the rows. Their columns have the name
	// of the table.
	Where, Order string
	Limit        int
}

// Page returns the first item of the FROM clause of a statement that joins tables to a page, and
// the end of the statement, after the joins. The arguments of Where come after those of the
// columns. A database that ignores OrderedJoin selects the page in a subquery: otherwise it
// would join all rows of the list. On the others, the temporary table of the subquery would make
// each page slower.
func (d *Dialect) Page(p Page) (from, end string) { return d.dialect.page(p) }

// Below returns the condition for the rows of a list in descending order that follow the
// place given by key and tie. The condition has the form that the database converts to
// ranges of an index over both columns. A page thus costs the same anywhere in the list,
// however many rows share a key.
func (d *Dialect) Below(keyColumn, tieColumn string, key, tie any) (condition string, args []any) {
	return d.dialect.after(keyColumn, tieColumn, " < ", key, tie)
}

// Above is Below for a list in ascending order.
func (d *Dialect) Above(keyColumn, tieColumn string, key, tie any) (condition string, args []any) {
	return d.dialect.after(keyColumn, tieColumn, " > ", key, tie)
}

// Some returns the WHERE clause of an UPDATE or DELETE that affects at most n of the
// matching rows of a table.
func (d *Dialect) Some(table, where string, n int) string { return d.dialect.some(table, where, n) }

// HasOneWriter reports whether the database runs one writing transaction at a time, in this
// process.
func (d *Dialect) HasOneWriter() bool { return d.dialect.hasOneWriter() }

// Upsert returns the clause between an INSERT and the assignments for the rows that exist
// already. These rows have the same values in the columns, which are a unique key. A
// database of the MySQL family assigns from left to right.
func (d *Dialect) Upsert(columns string) string { return d.dialect.upsert(columns) }

// Proposed returns the SQL expression, in the assignments after Upsert, for the value of a column
// in the row that was to be inserted.
func (d *Dialect) Proposed(column string) string { return d.dialect.proposed(column) }

// dialect holds the differences between the supported databases.
type dialect interface {
	// name returns ent's name of the database.
	name() string
	// migrations returns the directory of the migrations, and goose's name of the
	// database.
	migrations() (directory string, name goose.Dialect)
	// lockMigrations waits until no other process migrates the database.
	lockMigrations(ctx context.Context, db *sql.DB, url URL) (unlock func(), err error)
	// nowSQL returns an expression for the database's time in milliseconds.
	nowSQL() string
	// hasOneWriter reports whether the database runs one writing transaction at a time,
	// in this process.
	hasOneWriter() bool
	upsert(columns string) string
	proposed(column string) string
	forUpdate() string
	forUpdateNoWait() string
	forShare() string
	// boundIdle returns the statements at the beginning of a transaction, and after it, that
	// the database server must abort when its client is silent for that many seconds; they
	// are empty for an embedded database.
	boundIdle(seconds int) (begin, end string)
	byIndex(index string) string
	// primaryKey returns the name of the index of a table's primary key.
	primaryKey(table string) string
	idColumn() string
	rowNumber() string
	orderedJoin() string
	page(Page) (from, end string)
	after(keyColumn, tieColumn, comparison string, key, tie any) (condition string, args []any)
	// some returns a WHERE clause for at most n of the rows that match, for an UPDATE
	// or DELETE.
	some(table, where string, n int) string
	isDuplicate(error) bool
	// isLocked reports whether a statement failed because another transaction holds the
	// lock of a row.
	isLocked(error) bool
	isNoTable(error) bool
	// retryCause returns the reason to retry a failed transaction; empty if it must
	// not be retried.
	retryCause(error) string
	// retryCauses returns what retryCause may return.
	retryCauses() []string
	// isFull reports whether a statement failed because the database has no room for
	// its data. A retry soon would not help.
	isFull(error) bool
}

func (p Page) from() string { return p.Table + p.By }

func (p Page) end() string {
	return " WHERE " + p.Where + " ORDER BY " + p.Order + Limit(p.Limit)
}
