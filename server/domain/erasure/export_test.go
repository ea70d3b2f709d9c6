package erasure

import "github.com/moderato-live/moderato/server/change/tables"

// IsExported reports whether an export can find rows of a table.
func IsExported(table tables.Table) bool { return len(rowsAbout(table)) > 0 }

// ExportedColumns returns the columns of a table that an export has.
func ExportedColumns(table tables.Table) (names []string) {
	for _, column := range exported(table) {
		names = append(names, column.Name)
	}
	return names
}
