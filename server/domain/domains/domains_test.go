package domains_test

import (
	"slices"
	"testing"

	"entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/schema/field"

	"github.com/moderato-live/moderato/ent/migrate"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/domain/domains"
)

// TestEveryTableIsRegistered fails for a new table that no domain describes: its rows
// would not be erased, checked or imported.
func TestEveryTableIsRegistered(t *testing.T) {
	described := map[string]int{}
	for _, table := range domains.Tables() {
		described[table.Name]++
	}
	for _, table := range migrate.Tables {
		if n := described[table.Name]; n != 1 {
			t.Errorf("%d domains describe the table %s, want 1; add it to the Tables of its domain", n, table.Name)
		}
		delete(described, table.Name)
	}
	for name := range described {
		t.Errorf("a domain describes the table %s, which the database does not have", name)
	}
}

// TestErasureCoversEveryColumn fails for a column with ids or text that is described
// neither as personal nor as impersonal.
func TestErasureCoversEveryColumn(t *testing.T) {
	for _, described := range domains.Tables() {
		columns := identifying(described)
		for _, column := range columns {
			if !isCovered(described, column) {
				t.Errorf("%s.%s has ids or text: add it to the Users of the table, with what erasure does, or to Impersonal", described.Name, column)
			}
		}
		for _, column := range described.Users {
			if !slices.Contains(columns, column.Name) {
				t.Errorf("%s has no column %s with ids or text", described.Name, column.Name)
			}
		}
	}
}

// TestEveryUserColumnHasErasureStep fails for a column that relies on an erasure step
// that its table does not have.
func TestEveryUserColumnHasErasureStep(t *testing.T) {
	// The transaction of the deletion changes these rows, and the eraser removes them
	// last.
	ofDeletion := []string{"users", "message_generations"}
	for _, table := range domains.Tables() {
		removesRow := slices.ContainsFunc(table.Users, func(c tables.UserColumn) bool { return c.Erase == tables.RemoveRow })
		for _, column := range table.Users {
			if column.Erase == tables.WithRow && !removesRow && len(table.Erase.User) == 0 && !slices.Contains(ofDeletion, table.Name) {
				t.Errorf("nothing erases %s.%s: no other column removes the row, and the table has no step of its own", table.Name, column.Name)
			}
		}
	}
}

func isCovered(table tables.Table, column string) bool {
	return column == "id" || column == table.Channel || slices.Contains(table.Impersonal, column) ||
		(column == "channel_id" && len(table.Erase.Channel) > 0) ||
		slices.ContainsFunc(table.Users, func(c tables.UserColumn) bool { return c.Name == column && c.Erase != 0 })
}

// identifying returns the columns of a table that hold ids or text.
func identifying(described tables.Table) []string {
	var names []string
	i := slices.IndexFunc(migrate.Tables, func(t *schema.Table) bool { return t.Name == described.Name })
	for _, column := range migrate.Tables[i].Columns {
		if column.Type == field.TypeBytes || column.Type == field.TypeString {
			names = append(names, column.Name)
		}
	}
	return names
}
