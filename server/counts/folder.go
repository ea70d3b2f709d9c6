package counts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/channelcount"
	"github.com/moderato-live/moderato/ent/channelcountdelta"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

const (
	// FoldInterval is how often to fold.
	FoldInterval = time.Second
	foldBatch    = 500
)

// Folder adds the deltas to the counts. Any number of servers may fold at once,
// and be killed anywhere: a batch is one transaction.
type Folder struct {
	Store *store.Store
}

// errOvertaken is a batch of which another server folded a part.
var errOvertaken = errors.New("another server folded it")

// Fold folds every delta there is.
func (f *Folder) Fold(ctx context.Context) error {
	for {
		folded, err := f.foldBatch(ctx)
		if errors.Is(err, errOvertaken) {
			return nil // it goes on
		}
		if err != nil {
			return fmt.Errorf("fold the counts of channels: %w", err)
		}
		if folded < foldBatch {
			return nil
		}
	}
}

func (f *Folder) foldBatch(ctx context.Context) (folded int, err error) {
	// Looked for outside the transaction, so that a store without work to do is
	// not written to.
	deltas, err := f.Store.Read.ChannelCountDelta.Query().
		Order(ent.Asc(channelcountdelta.FieldID)).Limit(foldBatch).All(ctx)
	if err != nil || len(deltas) == 0 {
		return 0, err
	}
	ids := make([]uid.ID, len(deltas))
	sums := map[int64]int64{}
	for i, d := range deltas {
		ids[i] = d.ID
		sums[d.CountID] += d.Delta
	}
	return len(deltas), f.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, attempt store.Attempt) error {
		removed, err := tx.ChannelCountDelta.Delete().Where(channelcountdelta.IDIn(ids...)).Exec(ctx)
		if err != nil {
			return err
		}
		if removed < len(ids) {
			return errOvertaken // also by an attempt of ours that did commit
		}
		for _, id := range slices.Sorted(maps.Keys(sums)) { // in one order, against deadlocks
			if err := add(ctx, tx, id, sums[id]); err != nil {
				return err
			}
		}
		return nil
	})
}

func add(ctx context.Context, tx *ent.Tx, id, sum int64) error {
	updated, err := tx.ChannelCount.Update().Where(channelcount.ID(id)).AddCount(sum).Save(ctx)
	if err != nil || updated > 0 {
		return err
	}
	return tx.ChannelCount.Create().SetID(id).SetCount(sum).Exec(ctx)
}
