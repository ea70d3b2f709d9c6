package outbox

import (
	"context"
	"fmt"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/event"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
)

// anonymizeTargets removes the user from events about what was done to them, or what they
// did as a viewer. The events are kept, because their sequence must have no gap.
func anonymizeTargets(ctx context.Context, _ *store.Store, tx *ent.Tx, id uid.ID) (int, error) {
	rows, err := tx.Event.Query().Where(event.TargetID(id)).Limit(tables.EraseBatch).All(ctx)
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		payload, err := Anonymous(row.Payload, id, true)
		if err != nil {
			return 0, fmt.Errorf("event %s: %w", row.ID, err)
		}
		if err := tx.Event.UpdateOne(row).SetPayload(payload).SetTargetID(users.Deleted).ClearEvidence().Exec(ctx); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}

// anonymizeActors removes the user from events about what they did as a moderator.
func anonymizeActors(ctx context.Context, _ *store.Store, tx *ent.Tx, id uid.ID) (int, error) {
	rows, err := tx.Event.Query().Where(event.ActorID(id)).Limit(tables.EraseBatch).All(ctx)
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		payload, err := Anonymous(row.Payload, id, false)
		if err != nil {
			return 0, fmt.Errorf("event %s: %w", row.ID, err)
		}
		if err := tx.Event.UpdateOne(row).SetPayload(payload).SetActorID(users.Deleted).Exec(ctx); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}
