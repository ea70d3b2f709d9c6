package erasure

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/columns"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/store"
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
func Export(ctx context.Context, s *store.Store, tables []tables.Table, u *ent.User, do func(Line) error) error {
	for _, table := range tables {
		selected := exported(table)
		for i, of := range rowsAbout(table) {
			if err := exportRows(ctx, s, table, selected, of, rowsAbout(table)[:i], u, do); err != nil {
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
func rowsAbout(table tables.Table) []rows {
	var all []rows
	byID := func(column string) {
		all = append(all, rows{column + " = ?", func(u *ent.User) []any { return []any{u.ID} }})
	}
	for _, column := range table.Users {
		if columnOf(table.Name, column.Name).Kind == columns.UUID {
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
	ctx context.Context, s *store.Store, table tables.Table, selected []columns.Column, of rows, earlier []rows, u *ent.User, do func(Line) error,
) error {
	names := make([]string, len(selected))
	for i, column := range selected {
		names[i] = column.Name
	}
	query, args := "SELECT "+strings.Join(names, ", ")+" FROM "+table.Name+" WHERE "+of.where, of.args(u)
	for _, e := range earlier {
		query, args = query+" AND NOT COALESCE("+e.where+", FALSE)", append(args, e.args(u)...)
	}
	return store.QueryEach(ctx, s.Read, query, args, func(scan func(...any) error) error {
		values := make([]any, len(selected))
		for i, column := range selected {
			values[i] = target(column.Kind)
		}
		if err := scan(values...); err != nil {
			return err
		}
		line := Line{Table: table.Name, Row: map[string]any{}}
		for i, name := range names {
			line.Row[name] = value(values[i])
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
func exported(table tables.Table) []columns.Column {
	return slices.DeleteFunc(slices.Clone(columns.Of[table.Name]), func(c columns.Column) bool {
		return c.Kind == columns.Bytes || slices.Contains(table.Export.Secrets, c.Name)
	})
}

func columnOf(table, name string) columns.Column {
	all := columns.Of[table]
	return all[slices.IndexFunc(all, func(c columns.Column) bool { return c.Name == name })]
}

// target returns what a column is scanned into.
func target(kind columns.Kind) any {
	switch kind {
	case columns.UUID:
		return new(*uid.ID)
	case columns.Time:
		return new(*instant.Instant)
	case columns.Text:
		return new(*string)
	case columns.Bool:
		return new(*bool)
	}
	return new(*int64)
}

// value returns the value of a column as it is exported.
func value(target any) any {
	switch v := target.(type) {
	case **uid.ID:
		if *v != nil {
			return (*v).String()
		}
	case **instant.Instant:
		if *v != nil {
			return (*v).String()
		}
	case **string:
		if *v != nil {
			return **v
		}
	case **bool:
		if *v != nil {
			return **v
		}
	case **int64:
		if *v != nil {
			return **v
		}
	}
	return nil
}
