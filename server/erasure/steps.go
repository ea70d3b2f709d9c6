package erasure

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/domain"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
)

// ofChannel returns the steps that erase the rows of a deleted channel.
func ofChannel(tables []domain.Table) []domain.Step {
	var steps []domain.Step
	for _, table := range tables {
		steps = append(steps, table.Erase.Channel...)
		if table.Channel != "" {
			steps = append(steps, removeRows(table.Name, table.Channel))
		}
	}
	return steps
}

// ofUser returns the steps that erase what a deleted user left in other users' channels.
func ofUser(tables []domain.Table) []domain.Step {
	var steps []domain.Step
	for _, table := range tables {
		for _, column := range table.Users {
			switch column.Erase {
			case domain.RemoveRow:
				steps = append(steps, removeRows(table.Name, column.Name))
			case domain.ReplaceID:
				steps = append(steps, replaceID(table.Name, column.Name))
			case domain.WithRow:
			}
		}
		steps = append(steps, table.Erase.User...)
	}
	return steps
}

// removeRows returns a step that deletes the rows of a table whose column is the id.
func removeRows(table, column string) domain.Step {
	return domain.Step{Name: table + " by " + column, Do: func(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID) (int, error) {
		return domain.Exec(ctx, tx, "DELETE FROM "+table+s.Some(table, column+" = ?", domain.EraseBatch), id)
	}}
}

// replaceID returns a step that replaces the id in a column with users.Deleted.
func replaceID(table, column string) domain.Step {
	return domain.Step{Name: table + " by " + column, Do: func(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID) (int, error) {
		return domain.Exec(ctx, tx, "UPDATE "+table+" SET "+column+" = ?"+s.Some(table, column+" = ?", domain.EraseBatch), users.Deleted, id)
	}}
}
