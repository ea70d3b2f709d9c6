package moderation_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/ent"
	entsweep "github.com/moderato-live/moderato/ent/sweep"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestCommitOfEndedSweepSaysSo undoes a sweep in progress, or reverts its moderator, before a
// commit repeated with the idempotency key reports the end.
func TestCommitOfEndedSweepSaysSo(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		gate := &storetest.Gate{}
		config := servertest.Config(url)
		config.DBLayer = gate.Layer()
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		d := newDrive(t, s)
		frozen(t, d) // so that the server's job does not complete the sweep
		for _, by := range []string{"undo", "revert"} {
			d.raid(1500, "free sub")
			token := d.mustPreview().GetSweepToken()
			chunks := 0
			gate.Fail(func(query string) (int, error) {
				if !strings.Contains(query, "FROM `sweep_chunks` WHERE `sweep_chunks`.`sweep_id` =") {
					return 0, nil
				}
				if chunks++; chunks > 1 {
					return 0, errors.New("the server stopped")
				}
				return 0, nil
			})
			r := d.mustCommitWithKey(by, token)
			gate.Fail(nil)
			if r.GetStatus() != "IN_PROGRESS" || r.GetCounts().GetBanned() != 1000 {
				t.Fatalf("before the %s: %v", by, r)
			}
			if by == "undo" {
				d.undo(r.GetBatchId(), false)
			} else {
				d.revert(servertest.Moderator, 0, false)
			}
			want := proto.CloneOf(r)
			want.Status = "ENDED"
			for range 2 {
				if got := d.mustCommitWithKey(by, token); !proto.Equal(got, want) {
					t.Errorf("after the %s: got %v, want %v", by, got, want)
				}
			}
			d.wantChunks(0)
		}
	})
}

// TestUndoEndsASweep undoes the batch of a sweep that is in progress.
func TestUndoEndsASweep(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		frozen(t, d)
		d.raid(1, "free sub")
		r := d.mustCommit(d.mustPreview().GetSweepToken(), glowing(600))
		late := d.raid(1, "hello")[0]
		d.interrupt(r.GetBatchId(), late)
		undone := d.undo(r.GetBatchId(), true)
		if undone.GetCounts().GetUnbanned() != 1 {
			t.Errorf("the undo returns %v", undone)
		}
		d.Store.Clock.Advance(time.Minute)
		if err := d.completer().Complete(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d.standing(late).GetIsBanned() {
			t.Error("the sweep continued after its undo")
		}
		d.wantChunks(0)
		if err := d.post(late, "free sub"); err != nil {
			t.Errorf("the afterglow continued after the undo: %v", err)
		}
	})
}

// TestDeletedChannelHasNoDueSweep deletes a channel while a sweep is in progress.
func TestDeletedChannelHasNoDueSweep(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		d.raid(1, "free sub")
		r := d.mustCommit(d.mustPreview().GetSweepToken(), glowing(600))
		d.interrupt(r.GetBatchId(), d.raid(1, "hello")...)
		_, err := d.Directory.DeleteChannel(d.AsService(t).Context(), &platformv1.DeleteChannelRequest{ChannelId: servertest.Owner.String()})
		if err != nil {
			t.Fatal(err)
		}
		d.Store.Clock.Advance(time.Minute)
		if due := storetest.Must(d.Store.Read.Sweep.Query().Where(entsweep.Or(entsweep.DueAtNotNil(), entsweep.AfterglowUntilNotNil())).Count(t.Context())); due != 0 {
			t.Error("the sweep of the deleted channel is to be completed, or has an afterglow")
		}
		if _, err := d.completer().RemoveOld(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.wantChunks(0)
	})
}

// TestFailedSweepIsPostponed completes a sweep that cannot be completed: its batch is missing.
func TestFailedSweepIsPostponed(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		d.raid(1, "free sub")
		r := d.mustCommit(d.mustPreview().GetSweepToken(), func(r *moderatov1.CommitSweepRequest) { r.DurationSeconds = new(int64(600)) })
		d.interrupt(r.GetBatchId(), d.raid(1, "hello")...)
		d.write(func(tx *ent.Tx) error {
			return tx.BanBatch.DeleteOneID(uid.MustParse(r.GetBatchId())).Exec(context.Background())
		})
		d.Store.Clock.Freeze(start.Add(time.Minute))
		if err := d.completer().Complete(t.Context()); err == nil {
			t.Error("got no error")
		}
		if row := storetest.Must(d.Store.Read.Sweep.Query().Where(entsweep.DueAtNotNil()).Only(t.Context())); *row.DueAt <= start.Add(time.Minute) {
			t.Errorf("the sweep is due at %v, and goes before others again", *row.DueAt)
		}
	})
}

// interrupt makes a sweep that is complete one whose server stopped before it banned a user.
func (d *drive) interrupt(batchID string, rest ...uid.ID) {
	d.t.Helper()
	d.write(func(tx *ent.Tx) error {
		now, err := d.Store.Clock.Now(context.Background(), tx)
		if err != nil {
			return err
		}
		row, err := tx.Sweep.Query().Where(entsweep.BatchID(uid.MustParse(batchID))).Only(context.Background())
		if err != nil {
			return err
		}
		var joined []byte
		for _, id := range rest {
			joined = append(joined, id[:]...)
		}
		err = tx.SweepChunk.Create().SetID(uid.New()).SetSweepID(row.ID).SetChannelID(row.ChannelID).SetNumber(99).SetUserIds(joined).Exec(context.Background())
		if err != nil {
			return err
		}
		return tx.Sweep.UpdateOneID(row.ID).SetDueAt(now.Add(3 * time.Second)).Exec(context.Background())
	})
}
