package store

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
)

// ErrNoRows is what QueryRow answers when there is no row.
var ErrNoRows = sql.ErrNoRows

// Queryer runs a statement: a Store's Read or a transaction.
type Queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Placeholders is what stands for n values in a list of a statement.
func Placeholders(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }

// Limit is a LIMIT clause. The number is in the text: SQLite plans a statement
// anew whenever a parameter is bound that its plan may depend on.
func Limit(n int) string { return " LIMIT " + strconv.Itoa(n) }

// QueryRow runs a statement that yields one row and reads its columns. No row:
// ErrNoRows.
func QueryRow(ctx context.Context, q Queryer, query string, args []any, columns ...any) error {
	found := false
	err := QueryEach(ctx, q, query, args, func(scan func(...any) error) error {
		found = true
		return scan(columns...)
	})
	if err == nil && !found {
		return ErrNoRows
	}
	return err
}

// QueryEach runs a statement and calls each for every row, with the function
// that reads its columns.
func QueryEach(ctx context.Context, q Queryer, query string, args []any, each func(scan func(columns ...any) error) error) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return fmt.Errorf("scan: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("query: %w", err)
	}
	return nil
}
