package counts

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
)

// Surplus is a query for the number of channels by which the count of each bucket, with its
// deltas, exceeds that of the rows. As one statement it sees each channel together with
// its deltas.
const Surplus = `SELECT id, SUM(n) AS more FROM (
	SELECT id, count AS n FROM channel_counts
	UNION ALL SELECT count_id, delta FROM channel_count_deltas
	UNION ALL SELECT 2 * category_id + is_live, -1 FROM channels) x GROUP BY id`

// Fix corrects the count of a bucket with a delta, and says what it did. Changes of
// channels do not change the surplus, so they may run at the same time; other calls of Fix
// may not.
func Fix(ctx context.Context, s *store.Store, bucketID string) (did string, err error) {
	id, err := strconv.ParseInt(bucketID, 10, 64)
	if err != nil {
		return "", err
	}
	err = s.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		did = ""
		var more int64
		err := store.QueryRow(ctx, tx, "SELECT n.more FROM ("+Surplus+") n WHERE n.id = ?", []any{id}, &more)
		if errors.Is(err, store.ErrNoRows) || (err == nil && more == 0) {
			return nil
		}
		if err != nil {
			return err
		}
		did = fmt.Sprintf("added %d to the number of channels", -more)
		return tx.ChannelCountDelta.Create().SetID(uid.New()).SetCountID(id).SetDelta(-more).Exec(ctx)
	})
	return did, err
}
