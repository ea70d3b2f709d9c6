package erasure

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
)

// ofChannel returns the steps that erase the rows of a deleted channel.
func ofChannel(described []tables.Table) []tables.Step {
	var steps []tables.Step
	for _, table := range described {
		steps = append(steps, table.Erase.Channel...)
		if table.Channel != "" {
			steps = append(steps, removeRows(table.Name, table.Channel))
		}
	}
	return steps
}

// ofUser returns the steps that erase what a deleted user left in other users' channels.
func ofUser(described []tables.Table) []tables.Step {
	var steps []tables.Step
	for _, table := range described {
		for _, column := range table.Users {
			switch column.Erase {
			case tables.RemoveRow:
				steps = append(steps, removeRows(table.Name, column.Name))
			case tables.ReplaceID:
				steps = append(steps, replaceID(table.Name, column.Name))
			case tables.WithRow:
			}
		}
		steps = append(steps, table.Erase.User...)
	}
	return steps
}

// removeRows returns a step that deletes the rows of a table whose column is the id.
func removeRows(table, column string) tables.Step {
	return tables.Step{Name: table + " by " + column, Do: func(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID) (int, error) {
		return tables.Exec(ctx, tx, "DELETE FROM "+table+s.Some(table, column+" = ?", tables.EraseBatch), id)
	}}
}

// replaceID returns a step that replaces the id in a column with users.Deleted.
func replaceID(table, column string) tables.Step {
	return tables.Step{Name: table + " by " + column, Do: func(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID) (int, error) {
		return tables.Exec(ctx, tx, "UPDATE "+table+" SET "+column+" = ?"+s.Some(table, column+" = ?", tables.EraseBatch), users.Deleted, id)
	}}
}
