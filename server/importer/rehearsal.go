package importer

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/schema/field"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/migrate"
	"github.com/moderato-live/moderato/server/store"
)

// referenced are the tables to whose rows records of an import refer.
var referenced = []*schema.Table{
	migrate.CategoriesTable, migrate.UsersTable, migrate.ChannelsTable, migrate.ClientsTable, migrate.ErasuresTable,
}

// copyBatch is how many rows one transaction copies.
const copyBatch = 500

// CopyReferenced copies what records refer to into a new database, in which an import can be
// rehearsed.
func CopyReferenced(ctx context.Context, from, to *store.Store) error {
	for _, table := range referenced {
		if err := copyTable(ctx, from, to, table); err != nil {
			return fmt.Errorf("copy %s: %w", table.Name, err)
		}
	}
	return nil
}

func copyTable(ctx context.Context, from, to *store.Store, table *schema.Table) error {
	names := make([]string, len(table.Columns))
	for i, column := range table.Columns {
		names[i] = column.Name
	}
	columns := strings.Join(names, ", ")
	// The migrations have created a row in some tables.
	insert := "INSERT OR REPLACE INTO " + table.Name + " (" + columns + ") VALUES (" + store.Placeholders(len(names)) + ")"
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
	err := store.QueryEach(ctx, from.Read, "SELECT "+columns+" FROM "+table.Name, nil, func(scan func(...any) error) error {
		row := make([]any, len(table.Columns))
		for i, column := range table.Columns {
			row[i] = holder(column)
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
func holder(column *schema.Column) any {
	switch column.Type {
	case field.TypeBytes:
		return new([]byte)
	case field.TypeString:
		return new(sql.NullString)
	case field.TypeBool:
		return new(sql.NullBool)
	}
	return new(sql.NullInt64)
}
