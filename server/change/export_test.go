package change

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

// WriteRows writes the rows of channels as a transaction that changed all of them.
func WriteRows(ctx context.Context, s *store.Store, tx *ent.Tx, ids ...uid.ID) error {
	changes := make([]*Change, len(ids))
	for i, id := range ids {
		changes[i] = &Change{Tx: tx, Store: s, ChannelID: id, Pending: Pending{events: make([]event, 1)}}
	}
	return writeRows(ctx, tx, changes)
}
