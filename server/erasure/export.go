package erasure

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/schema/field"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/migrate"
	"github.com/moderato-live/moderato/server/domain"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

// Line is a row of an export.
type Line struct {
	// Table is the name of the table.
	Table string `json:"table"`
	// Row is the row, by the names of its columns.
	Row map[string]any `json:"row"`
}

// Export calls do with every row about a user that an erasure would remove or change, and
// with the rows of the user's channel that are about nobody else. Digests and secrets are
// left out, and so is what the tables say is about others.
func Export(ctx context.Context, s *store.Store, tables []domain.Table, u *ent.User, do func(Line) error) error {
	for _, table := range tables {
		columns := exported(table)
		for i, of := range rowsAbout(table) {
			if err := exportRows(ctx, s, table, columns, of, rowsAbout(table)[:i], u, do); err != nil {
				return fmt.Errorf("export %s: %w", table.Name, s.Classify(err))
			}
		}
	}
	return nil
}

// rows is a condition of a table for rows about a user.
type rows struct {
	where string
	args  func(*ent.User) []any
}

// rowsAbout returns the conditions for the rows of a table about a user.
func rowsAbout(table domain.Table) []rows {
	var all []rows
	byID := func(column string) {
		all = append(all, rows{column + " = ?", func(u *ent.User) []any { return []any{u.ID} }})
	}
	for _, column := range table.Users {
		if isUUID(columnOf(table.Name, column.Name)) {
			byID(column.Name)
		}
	}
	if table.Channel != "" && len(table.Users) == 0 {
		byID(table.Channel)
	}
	if table.Export.Where != "" {
		all = append(all, rows{table.Export.Where, table.Export.Args})
	}
	return all
}

// exportRows exports the rows of one condition that earlier conditions do not select.
func exportRows(
	ctx context.Context, s *store.Store, table domain.Table, columns []*schema.Column, of rows, earlier []rows, u *ent.User, do func(Line) error,
) error {
	names := make([]string, len(columns))
	for i, column := range columns {
		names[i] = column.Name
	}
	query, args := "SELECT "+strings.Join(names, ", ")+" FROM "+table.Name+" WHERE "+of.where, of.args(u)
	for _, e := range earlier {
		query, args = query+" AND NOT COALESCE("+e.where+", FALSE)", append(args, e.args(u)...)
	}
	return store.QueryEach(ctx, s.Read, query, args, func(scan func(...any) error) error {
		values := make([]any, len(columns))
		for i, column := range columns {
			values[i] = target(column)
		}
		if err := scan(values...); err != nil {
			return err
		}
		line := Line{Table: table.Name, Row: map[string]any{}}
		for i, name := range names {
			line.Row[name] = value(name, values[i])
		}
		for column, person := range table.Export.OnlyOf {
			if line.Row[person] != u.ID.String() {
				delete(line.Row, column)
			}
		}
		return do(line)
	})
}

// exported returns the columns of a table that an export has.
func exported(table domain.Table) []*schema.Column {
	var columns []*schema.Column
	for _, column := range tableOf(table.Name).Columns {
		isBinary := column.Type == field.TypeBytes && !isUUID(column)
		if !isBinary && !slices.Contains(table.Export.Secrets, column.Name) {
			columns = append(columns, column)
		}
	}
	return columns
}

func tableOf(name string) *schema.Table {
	i := slices.IndexFunc(migrate.Tables, func(t *schema.Table) bool { return t.Name == name })
	return migrate.Tables[i]
}

func columnOf(table, name string) *schema.Column {
	columns := tableOf(table).Columns
	return columns[slices.IndexFunc(columns, func(c *schema.Column) bool { return c.Name == name })]
}

// isUUID reports whether a column holds ids, and not digests or other bytes.
func isUUID(column *schema.Column) bool { return column.SchemaType[dialect.MySQL] == "binary(16)" }

// target returns what a column is scanned into.
func target(column *schema.Column) any {
	switch {
	case isUUID(column):
		return new(*uid.ID)
	case column.Type == field.TypeString:
		return new(sql.NullString)
	case column.Type == field.TypeBool:
		return new(sql.NullBool)
	}
	return new(sql.NullInt64)
}

// value returns the value of a column as it is exported.
func value(name string, target any) any {
	switch v := target.(type) {
	case **uid.ID:
		if *v != nil {
			return (*v).String()
		}
	case *sql.NullString:
		if v.Valid {
			return v.String
		}
	case *sql.NullBool:
		if v.Valid {
			return v.Bool
		}
	case *sql.NullInt64:
		switch isTime := strings.HasSuffix(name, "_at") || strings.HasSuffix(name, "_until"); {
		case v.Valid && isTime:
			return instant.Instant(v.Int64).String()
		case v.Valid:
			return v.Int64
		}
	}
	return nil
}
