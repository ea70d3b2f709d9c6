package moderation

import (
	"context"
	"iter"
	"slices"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/sweepchunk"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/store"
)

// sweptPage is how many chunks the search for a user reads in a statement, and locks at most
// in a transaction.
const sweptPage = 100

// searchSwept finds a user among the users whom sweeps are to ban. No index does: the rows
// are few, and none is old.
func searchSwept(ctx context.Context, s *store.Store, id uid.ID) iter.Seq2[tables.StepFunc, error] {
	return func(yield func(tables.StepFunc, error) bool) {
		var last uid.ID
		for isEnd := false; !isEnd; {
			var found []uid.ID
			read := 0
			err := store.QueryEach(ctx, s.Read, "SELECT id, INSTR(user_ids, ?) > 0 FROM sweep_chunks"+s.ByPrimaryKey("sweep_chunks")+
				" WHERE id > ? ORDER BY id"+store.Limit(sweptPage), []any{id, last}, func(scan func(...any) error) error {
				var isFound bool
				err := scan(&last, &isFound)
				if isFound {
					found = append(found, last)
				}
				read++
				return err
			})
			if err != nil {
				yield(nil, s.Classify(err))
				return
			}
			if isEnd = read < sweptPage; read > 0 && !yield(eraseSwept(found), nil) {
				return
			}
		}
	}
}

// eraseSwept returns the step that removes a user from chunks. It locks them, because a sweep
// or another eraser may have changed or removed them since they were found.
func eraseSwept(chunks []uid.ID) tables.StepFunc {
	return func(ctx context.Context, _ *store.Store, tx *ent.Tx, id uid.ID) (int, error) {
		if len(chunks) == 0 {
			return 0, nil
		}
		locked, err := tx.SweepChunk.Query().Where(sweepchunk.IDIn(chunks...), store.LockForUpdate).Order(ent.Asc(sweepchunk.FieldID)).All(ctx)
		if err != nil {
			return 0, err
		}
		for _, chunk := range locked {
			others := joinIDs(slices.DeleteFunc(splitIDs(chunk.UserIds), func(other uid.ID) bool { return other == id }))
			if err := tx.SweepChunk.UpdateOneID(chunk.ID).SetUserIds(others).Exec(ctx); err != nil {
				return 0, err
			}
		}
		return len(locked), nil
	}
}
