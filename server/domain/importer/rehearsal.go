package importer

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/columns"
	"github.com/moderato-live/moderato/server/store"
)

// referenced are the tables to whose rows records of an import refer.
var referenced = []string{"categories", "users", "channels", "clients", "erasures"}

// copyBatch is how many rows one transaction copies.
const copyBatch = 500

// CopyReferenced copies what records refer to into a new database, in which an import can be
// rehearsed.
func CopyReferenced(ctx context.Context, from, to *store.Store) error {
	for _, table := range referenced {
		if err := copyTable(ctx, from, to, table); err != nil {
			return fmt.Errorf("copy %s: %w", table, err)
		}
	}
	return nil
}

func copyTable(ctx context.Context, from, to *store.Store, table string) error {
	names := make([]string, len(columns.Of[table]))
	for i, column := range columns.Of[table] {
		names[i] = column.Name
	}
	list := strings.Join(names, ", ")
	// The migrations have created a row in some tables.
	insert := "INSERT OR REPLACE INTO " + table + " (" + list + ") VALUES (" + store.Placeholders(len(names)) + ")"
	var pending [][]any
	flush := func() error {
		err := to.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			for _, row := range pending {
				if _, err := tx.ExecContext(ctx, insert, row...); err != nil {
					return err
				}
			}
			return nil
		})
		pending = pending[:0]
		return err
	}
	err := store.QueryEach(ctx, from.Read, "SELECT "+list+" FROM "+table, nil, func(scan func(...any) error) error {
		row := make([]any, len(names))
		for i, column := range columns.Of[table] {
			row[i] = holder(column.Kind)
		}
		if err := scan(row...); err != nil {
			return err
		}
		if pending = append(pending, slices.Clone(row)); len(pending) < copyBatch {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

// holder returns what a value of a column is read into and written from.
func holder(kind columns.Kind) any {
	switch kind {
	case columns.Bytes, columns.UUID:
		return new([]byte)
	case columns.Text:
		return new(sql.NullString)
	case columns.Bool:
		return new(sql.NullBool)
	}
	return new(sql.NullInt64)
}
