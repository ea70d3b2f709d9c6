package store

import (
	"context"
	"database/sql"
	"strings"

	entdialect "entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
)

// savepoint is the last savepoint of a shared transaction, to which the transaction returns
// if a body fails. It serves the bodies after it too, as long as none of them has written:
// many bodies only read, and leave what they write for the end of the transaction.
type savepoint struct {
	isSet bool
	at    int // the number of executed statements
	count executed
}

// executed counts the statements of a transaction that may write.
type executed struct{ n int }

// set sets the savepoint for the next body, unless the last one still serves.
func (sh *shared) set(ctx context.Context) error {
	if p := &sh.savepoint; p.isSet && p.at == p.count.n {
		return nil
	}
	set, _, _ := sh.store.dialect.savepoint()
	return sh.execute(ctx, set, true)
}

// unset ends what set began: it undoes the body, or releases the savepoint if the next set
// does not do that.
func (sh *shared) unset(ctx context.Context, isUndone bool) error {
	_, undo, release := sh.store.dialect.savepoint()
	switch {
	case isUndone:
		return sh.execute(ctx, undo, release == "")
	case release != "":
		return sh.execute(ctx, release, false)
	}
	return nil
}

// execute executes a statement after which the savepoint is set or not.
func (sh *shared) execute(ctx context.Context, statement string, isSet bool) error {
	_, err := sh.tx.ExecContext(ctx, statement)
	p := &sh.savepoint
	p.isSet, p.at = isSet, p.count.n
	return err
}

// executedKey is the key under which the context of a new transaction holds the *executed
// that counts its statements.
type executedKey struct{}

// countingDriver is a driver whose transactions count their statements.
type countingDriver struct{ *entsql.Driver }

// Tx implements dialect.Driver.
func (d countingDriver) Tx(ctx context.Context) (entdialect.Tx, error) {
	began, err := d.Driver.Tx(ctx)
	count, ok := ctx.Value(executedKey{}).(*executed)
	if tx, isSQL := began.(*entsql.Tx); ok && isSQL && err == nil {
		tx.ExecQuerier = countingConn{tx.ExecQuerier, count}
	}
	return began, err
}

type countingConn struct {
	entsql.ExecQuerier

	count *executed
}

// ExecContext implements entsql.ExecQuerier.
func (c countingConn) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	c.count.n++
	return c.ExecQuerier.ExecContext(ctx, query, args...)
}

// QueryContext implements entsql.ExecQuerier. A statement may write and return rows.
func (c countingConn) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if !strings.HasPrefix(strings.TrimSpace(query), "SELECT") {
		c.count.n++
	}
	return c.ExecQuerier.QueryContext(ctx, query, args...)
}
