package moderation_test

import (
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/banbatch"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store/jobs"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// keptBans is how long the events of bans are kept in these tests.
const keptBans = 2 * time.Hour

// TestOldBatchesWithoutBansAreRemoved removes those batches that are older than their events
// and have no ban, and leaves the others: their bans can still be undone.
func TestOldBatchesWithoutBansAreRemoved(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		banned, undone := d.banAll(servertest.Owner, servertest.Viewer), d.banAll(servertest.Owner, servertest.Raider)
		d.undo(undone.GetBatchId(), false)
		d.interruptSweepOf(undone.GetBatchId(), start)
		d.Store.Clock.Freeze(start.Add(keptBans))
		d.removeBatches(keptBans, 0)
		d.wantBatches(banned.GetBatchId(), undone.GetBatchId())
		d.Store.Clock.Freeze(start.Add(keptBans + time.Millisecond))
		d.removeBatches(0, 0)
		d.removeBatches(keptBans, 0) // a sweep in progress may add bans to it
		d.wantBatches(banned.GetBatchId(), undone.GetBatchId())
		d.write(func(tx *ent.Tx) error {
			_, err := tx.Sweep.Delete().Exec(t.Context())
			return err
		})
		d.removeBatches(keptBans, 1)
		d.wantBatches(banned.GetBatchId())
		_, err := d.Moderation.UndoBanBatch(d.creds[servertest.Owner].Context(), &moderatov1.UndoBanBatchRequest{
			ChannelId: servertest.Owner.String(), BatchId: undone.GetBatchId(),
		})
		wantReason(t, err, "BATCH_NOT_FOUND")
		if r := d.undo(banned.GetBatchId(), false); r.GetCounts().GetUnbanned() != 1 {
			t.Errorf("the undo of the batch that was kept returns %v", r)
		}
		d.wantSound()
	})
}

// TestSweepOfNobodyLeavesNoBatch commits a preview that matches nobody, and one that matches
// a user. A day later only the batch of the second one is left.
func TestSweepOfNobodyLeavesNoBatch(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		of := func() string { return d.mustCommit(d.mustPreview().GetSweepToken()).GetBatchId() }
		nobody := of()
		d.raid(1, "free sub")
		raider := of()
		d.wantBatches(nobody, raider)
		d.Store.Clock.Freeze(start.Add(25 * time.Hour))
		if _, err := d.completer().RemoveOld(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.wantBatches(raider)
	})
}

// removeBatches runs the job that removes old batches, and fails unless it counts and removes
// so many. The events of bans are kept for a time.
func (d *drive) removeBatches(keep time.Duration, want int) {
	d.t.Helper()
	job := d.batchJob(keep)
	counted, err := job.Backlog(d.t.Context(), d.Store)
	if err != nil || counted != int64(want) {
		d.t.Errorf("the backlog is %d (%v), want %d", counted, err, want)
	}
	before := storetest.Must(d.Store.Read.BanBatch.Query().Count(d.t.Context()))
	if more, err := job.Run(d.t.Context()); more || err != nil {
		d.t.Errorf("the job returns %t and %v", more, err)
	}
	if removed := before - storetest.Must(d.Store.Read.BanBatch.Query().Count(d.t.Context())); removed != want {
		d.t.Errorf("the job removed %d batches, want %d", removed, want)
	}
}

// batchJob returns the job of the table of batches.
func (d *drive) batchJob(keep time.Duration) jobs.Job {
	d.t.Helper()
	for _, table := range moderation.Tables {
		if table.Name == "ban_batches" && table.Expire != nil {
			return table.Expire(tables.Env{Store: d.Store, Retention: eventtype.Retention{"channel.ban": keep}})
		}
	}
	d.t.Fatal("no job removes old batches")
	return jobs.Job{}
}

// interruptSweepOf stores a sweep in progress whose batch is an existing one.
func (d *drive) interruptSweepOf(batchID string, at instant.Instant) {
	d.t.Helper()
	d.write(func(tx *ent.Tx) error {
		if err := interruptedSweep(tx, servertest.Owner, servertest.Viewer, at.Add(1000*24*time.Hour)); err != nil {
			return err
		}
		ctx := d.t.Context()
		made := storetest.Must(tx.Sweep.Query().Only(ctx))
		if err := tx.BanBatch.DeleteOneID(*made.BatchID).Exec(ctx); err != nil {
			return err
		}
		return tx.Sweep.UpdateOne(made).SetBatchID(uid.MustParse(batchID)).Exec(ctx)
	})
}

// wantBatches fails unless the channel has these batches, in any order, in its list too.
func (d *drive) wantBatches(want ...string) {
	d.t.Helper()
	list, err := d.Moderation.ListBanBatches(d.creds[servertest.Owner].Context(), &moderatov1.ListBanBatchesRequest{ChannelId: servertest.Owner.String()})
	if err != nil {
		d.t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, row := range list.GetRows() {
		listed[row.GetBatchId()] = true
	}
	rows := storetest.Must(d.Store.Read.BanBatch.Query().Where(banbatch.ChannelID(servertest.Owner)).Count(d.t.Context()))
	if len(listed) != len(want) || rows != len(want) {
		d.t.Errorf("%d batches are listed and %d stored, want %d", len(listed), rows, len(want))
	}
	for _, id := range want {
		if !listed[id] {
			d.t.Errorf("the batch %s is not listed", id)
		}
	}
}
