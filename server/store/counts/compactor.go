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
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

const (
	// compactInterval is how often to compact the deltas.
	compactInterval = time.Second
	compactBatch    = 500
)

// Compactor compacts the deltas into the counts. Any number of servers may do so
// concurrently, and may be killed at any point: a batch is one transaction.
type Compactor struct {
	Store *store.Store
}

// Job returns the job that compacts the deltas.
func (f *Compactor) Job() jobs.Job {
	return jobs.Job{
		Name: "compact the counts of channels", Interval: compactInterval, Run: jobs.All(f.Compact),
		Due: jobs.Rows("SELECT 1 FROM channel_count_deltas"),
	}
}

// errOvertaken is returned for a batch of which another server compacted a part.
var errOvertaken = errors.New("another server compacted it")

// Compact compacts all deltas. It stops early if another server is compacting them.
func (f *Compactor) Compact(ctx context.Context) error {
	for {
		compacted, err := f.compactBatch(ctx)
		if errors.Is(err, errOvertaken) {
			return nil // the other server continues
		}
		if err != nil {
			return fmt.Errorf("compact the counts of channels: %w", err)
		}
		if compacted < compactBatch {
			return nil
		}
	}
}

func (f *Compactor) compactBatch(ctx context.Context) (compacted int, err error) {
	// Query outside the transaction, so that there is no write transaction without
	// work.
	deltas, err := f.Store.Read.ChannelCountDelta.Query().
		Order(ent.Asc(channelcountdelta.FieldID)).Limit(compactBatch).All(ctx)
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
			return errOvertaken // or an earlier attempt of this call committed
		}
		for _, id := range slices.Sorted(maps.Keys(sums)) { // in a fixed order, to avoid deadlocks
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
