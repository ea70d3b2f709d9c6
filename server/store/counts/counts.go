// Package counts counts the channels by category and by whether they are live, at a cost
// that does not grow with the number of channels. If each category had a single counter
// row, changes of many channels would wait for its lock. Therefore a change appends a
// delta, a Compactor compacts the deltas in the background, and a read sums both.
package counts

import (
	"context"
	"fmt"
	"math"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
)

// Bucket is the group of channels in which a channel is counted.
type Bucket struct {
	Category int64
	IsLive   bool
}

// Of returns the bucket in which a channel is counted.
func Of(c *ent.Channel) *Bucket { return &Bucket{Category: c.CategoryID, IsLive: c.IsLive} }

// maxCategory is the largest id of a category whose buckets have ids that fit in an int64.
// The contract accepts no larger ids.
const maxCategory = math.MaxInt64 / 2

// id returns the key of the bucket's count.
func (b Bucket) id() int64 {
	if b.IsLive {
		return 2*b.Category + 1
	}
	return 2 * b.Category
}

// Move moves a channel from one bucket to another, in the transaction that changes the
// channel. from is nil for a new channel, and to is nil for a channel that is removed.
func Move(ctx context.Context, tx *ent.Tx, from, to *Bucket) error {
	if from != nil && to != nil && *from == *to {
		return nil
	}
	for _, change := range []struct {
		bucket *Bucket
		delta  int64
	}{{from, -1}, {to, 1}} {
		if change.bucket == nil {
			continue
		}
		err := tx.ChannelCountDelta.Create().SetID(uid.New()).
			SetCountID(change.bucket.id()).SetDelta(change.delta).
			Exec(ctx)
		if err != nil {
			return fmt.Errorf("count channels: %w", err)
		}
	}
	return nil
}

// sumQuery holds the parameters of sum.
type sumQuery struct {
	categories []int64
	liveOnly   bool
}

// sum sums counts and the deltas that are not yet compacted.
var sum = store.Declare(func(_ *store.Dialect, q sumQuery) (string, []any) {
	counts, countArgs := buckets("id", q.categories, q.liveOnly)
	deltas, deltaArgs := buckets("count_id", q.categories, q.liveOnly)
	return `
		SELECT (SELECT COALESCE(SUM(count), 0) FROM channel_counts` + counts + `)
			+ (SELECT COALESCE(SUM(delta), 0) FROM channel_count_deltas` + deltas + `)`, append(countArgs, deltaArgs...)
})

// Read returns the number of channels in some categories. No categories means all
// categories. If liveOnly is set, it counts only live channels. It uses one statement,
// so that no channel is counted twice or missed while deltas are compacted.
func Read(ctx context.Context, s *store.Store, categories []int64, liveOnly bool) (count int64, err error) {
	err = sum.One(ctx, s, sumQuery{categories, liveOnly}, func(r *store.Row) { count = r.Int() })
	if err != nil {
		return 0, fmt.Errorf("count channels: %w", err)
	}
	return count, nil
}

// buckets returns a WHERE clause for the counts that Read sums, and its arguments.
func buckets(column string, categories []int64, liveOnly bool) (where string, args []any) {
	if len(categories) == 0 {
		if liveOnly {
			return " WHERE " + column + " % 2 = 1", nil
		}
		return "", nil
	}
	for _, category := range categories {
		if category < 0 || category > maxCategory {
			continue // it has no channels, and its bucket ids would collide with others
		}
		args = append(args, Bucket{category, true}.id())
		if !liveOnly {
			args = append(args, Bucket{category, false}.id())
		}
	}
	if len(args) == 0 {
		return " WHERE 1 = 0", nil
	}
	return " WHERE " + column + " IN (" + store.Placeholders(len(args)) + ")", args
}
