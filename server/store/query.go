package store

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
)

// ErrNoRows is the error of QueryRow and Statement.One when there is no row.
var ErrNoRows = sql.ErrNoRows

// Queryer runs statements. A Store's Read and a transaction are Queryers.
type Queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Placeholders returns n comma-separated placeholders, for a list in a statement.
func Placeholders(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }

// Limit returns a LIMIT clause. The number is part of the text, because SQLite plans a
// statement again whenever a parameter is bound on which its plan may depend.
func Limit(n int) string { return " LIMIT " + strconv.Itoa(n) }

// QueryRow runs a statement that returns one row and scans it into columns. If there is
// no row, it returns ErrNoRows.
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

// QueryEach runs a statement and calls each for every row, with the function that scans
// the columns of the row.
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
