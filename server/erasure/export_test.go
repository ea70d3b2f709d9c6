package erasure

import "github.com/moderato-live/moderato/server/domain"

// IsExported reports whether an export can find rows of a table.
func IsExported(table domain.Table) bool { return len(rowsAbout(table)) > 0 }

// ExportedColumns returns the columns of a table that an export has.
func ExportedColumns(table domain.Table) (names []string) {
	for _, column := range exported(table) {
		names = append(names, column.Name)
	}
	return names
}
