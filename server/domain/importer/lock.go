package importer

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/store"
)

// lockChannels locks the channels of a batch before anything else, in the order of
// their ids. Imports of the same channels therefore wait for each other, where they
// would otherwise deadlock again and again. A channel that does not exist yet is
// locked when it is created.
func lockChannels(ctx context.Context, s *store.Store, tx *ent.Tx, batch []record) error {
	_, err := change.Lock(ctx, s, tx, channelIDs(batch)...)
	return err
}

// channelIDs returns the channels whose rows a batch may change. It skips an
// invalid id, which is reported later, with its line.
func channelIDs(batch []record) []uid.ID {
	ids := make([]uid.ID, 0, len(batch))
	for _, rec := range batch {
		if rec.follow != nil {
			ids = append(ids, rec.follow.ChannelID)
			continue
		}
		i, isKnown := importOf(rec.Record)
		if !isKnown {
			continue
		}
		if id, err := uid.Parse(i.Channel(rec.Record)); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}
