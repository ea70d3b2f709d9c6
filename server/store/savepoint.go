package store

import (
	"context"
	"database/sql"
	"strings"

	entdialect "entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
)

// savepoint is the savepoint to which a shared transaction returns if a body fails. A new body
// uses the savepoint of the body before it if nothing was written since: many bodies only
// read, and leave their writes for the end of the transaction.
type savepoint struct {
	isSet bool
	at    int // the value of count when the savepoint was set
	count executed
}

// executed counts the statements of a transaction that may write.
type executed struct{ n int }

// save sets the savepoint for the next body, unless nothing was written since the last one.
func (sh *shared) save(ctx context.Context) error {
	p := &sh.savepoint
	set, replace, _ := sh.store.dialect.savepoint()
	switch {
	case !p.isSet:
		return sh.toSavepoint(ctx, set)
	case p.at != p.count.n:
		return sh.toSavepoint(ctx, replace)
	}
	return nil
}

// undo returns the transaction to the savepoint.
func (sh *shared) undo(ctx context.Context) error {
	_, _, undo := sh.store.dialect.savepoint()
	return sh.toSavepoint(ctx, undo)
}

// toSavepoint executes a statement that sets the savepoint or returns to it.
func (sh *shared) toSavepoint(ctx context.Context, statement string) error {
	_, err := sh.tx.ExecContext(ctx, statement)
	p := &sh.savepoint
	p.isSet, p.at = true, p.count.n
	return err
}

// executedKey is the key of the *executed in the context with which a transaction begins. The
// transaction counts its statements there.
type executedKey struct{}

// countingDriver is a driver whose transactions count their statements.
type countingDriver struct{ *entsql.Driver }

// Tx implements dialect.Driver.
func (d countingDriver) Tx(ctx context.Context) (entdialect.Tx, error) {
	began, err := d.Driver.Tx(ctx)
	count, ok := ctx.Value(executedKey{}).(*executed)
	if !ok || err != nil {
		return began, err
	}
	tx := began.(*entsql.Tx)
	tx.ExecQuerier = countingConn{tx.ExecQuerier, count}
	return tx, nil
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

// QueryContext implements entsql.ExecQuerier. It counts statements that write and return rows.
func (c countingConn) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if !strings.HasPrefix(strings.TrimSpace(query), "SELECT") {
		c.count.n++
	}
	return c.ExecQuerier.QueryContext(ctx, query, args...)
}
