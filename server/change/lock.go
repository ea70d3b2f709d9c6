package change

import (
	"bytes"
	"context"
	"slices"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/store"
)

// locksPerStatement is the maximum number of channels that one statement locks.
const locksPerStatement = 500

// Locked holds columns of a channel's row, as of its lock.
type Locked struct {
	// LiveStartedAt is when the channel's live stream began; nil when the channel is
	// not live.
	LiveStartedAt *instant.Instant

	sequence, activityNumber int64
}

// Lock locks the rows of channels until the transaction ends, and returns those that
// exist. It locks them in the order of their ids, so that two transactions do not
// deadlock. Every change of a channel's row, or of rows that its counters count, locks
// the row first.
func Lock(ctx context.Context, s *store.Store, tx *ent.Tx, ids ...uid.ID) (map[uid.ID]*Locked, error) {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b uid.ID) int { return bytes.Compare(a[:], b[:]) })
	found := make(map[uid.ID]*Locked, len(ids))
	for some := range slices.Chunk(slices.Compact(ids), locksPerStatement) {
		err := store.QueryEach(ctx, tx, "SELECT id, event_sequence, activity_number, live_started_at FROM channels"+s.ByPrimaryKey("channels")+" WHERE id IN ("+
			store.Placeholders(len(some))+") ORDER BY id"+s.ForUpdate(), store.Args(some),
			func(scan func(...any) error) error {
				var id uid.ID
				var row Locked
				err := scan(&id, &row.sequence, &row.activityNumber, &row.LiveStartedAt)
				found[id] = &row
				return err
			})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// LockRow locks a channel's row and returns all of it, or CHANNEL_NOT_FOUND.
func LockRow(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID) (*ent.Channel, error) {
	if _, err := Lock(ctx, s, tx, id); err != nil {
		return nil, err
	}
	row, err := tx.Channel.Get(ctx, id)
	if ent.IsNotFound(err) {
		return nil, apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)
	}
	return row, err
}
