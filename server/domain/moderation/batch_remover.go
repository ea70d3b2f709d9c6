package moderation

import (
	"context"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/banbatch"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

const (
	// removeBatchesInterval is how often to look for old batches. Each time, those that are
	// old and have bans are looked at as well.
	removeBatchesInterval = time.Hour
	// batchesRemoved is how many batches one transaction removes, and removeRest is the
	// longest rest after it: on SQLite, it holds the only write lock.
	batchesRemoved = 500
	removeRest     = 50 * time.Millisecond
)

// BatchRemover removes the batches of bans that are older than their events, and of which no
// ban is left: nothing can be undone, and nothing shows who was banned.
type BatchRemover struct {
	Store *store.Store
	// Keep is how long the events of bans are kept; 0 is forever.
	Keep time.Duration
}

// isUnused is the SQL condition that no ban, no replaced ban and no sweep has a batch. No ban joins
// such a batch: only sweeps do that, until their afterglow ends, and their rows are kept for longer.
const isUnused = `NOT EXISTS (SELECT 1 FROM bans b WHERE b.batch_id = x.id)
	AND NOT EXISTS (SELECT 1 FROM replaced_bans r WHERE r.batch_id = x.id)
	AND NOT EXISTS (SELECT 1 FROM sweeps s WHERE s.batch_id = x.id)`

// Job returns the job that removes old batches.
func (w *BatchRemover) Job() jobs.Job {
	return jobs.Job{
		Name: "remove old batches of bans", Interval: removeBatchesInterval, MaxRest: removeRest, Run: w.RemoveOld, Due: w.due,
	}
}

// from returns the clause for batches that are older than an SQL expression.
func (w *BatchRemover) from(before string) string {
	return " FROM ban_batches x" + w.Store.ByIndex("banbatch_created_at") + " WHERE x.created_at < " + before + " AND " + isUnused
}

// before returns the time before which batches are old.
func (w *BatchRemover) before(ctx context.Context) (instant.Instant, error) {
	now, err := w.Store.Clock.Now(ctx, w.Store.Read)
	return now.Add(-w.Keep), err
}

// due selects the old batches.
func (w *BatchRemover) due() (query string, args []any) {
	if w.Keep == 0 {
		return "SELECT 1 FROM ban_batches WHERE 1 = 0", nil
	}
	now, args := w.Store.Clock.Expression()
	return "SELECT 1" + w.from(fmt.Sprintf("%s - %d", now, w.Keep.Milliseconds())), args
}

// RemoveOld removes some old batches. It reports whether there may be more.
func (w *BatchRemover) RemoveOld(ctx context.Context) (more bool, err error) {
	if w.Keep == 0 {
		return false, nil
	}
	before, err := w.before(ctx)
	if err != nil {
		return false, err
	}
	var old []uid.ID
	err = store.QueryEach(ctx, w.Store.Read, "SELECT x.id"+w.from("?")+" ORDER BY x.created_at"+store.Limit(batchesRemoved), []any{before}, func(scan func(...any) error) error {
		var id uid.ID
		err := scan(&id)
		old = append(old, id)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("find old batches of bans: %w", err)
	}
	if len(old) == 0 {
		return false, nil
	}
	err = w.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		_, err := tx.BanBatch.Delete().Where(banbatch.IDIn(old...)).Exec(ctx)
		return err
	})
	return err == nil && len(old) == batchesRemoved, err
}
