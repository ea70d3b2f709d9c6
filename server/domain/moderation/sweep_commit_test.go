package moderation_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/fsck"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestSweepIsOneBatch commits a sweep of several transactions, lists it and undoes it.
func TestSweepIsOneBatch(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		raiders := d.raid(2100, "free sub")
		d.mustPost(servertest.Viewer, "hello")
		r := d.mustPreview()
		if r.GetMatched() != 2100 || len(r.GetSample()) != 20 {
			t.Fatalf("matched %d, a sample of %d", r.GetMatched(), len(r.GetSample()))
		}
		late := d.raid(1, "free sub")[0] // after the preview
		d.mustBan(servertest.Owner, raiders[3])
		before := len(d.events())
		got := d.mustCommit(r.GetSweepToken(), func(r *moderatov1.CommitSweepRequest) { r.Reason, r.DurationSeconds = new("raid"), new(int64(3600)) })
		want := &moderatov1.CommitSweepResponse{BatchId: got.GetBatchId(), Status: "COMPLETE", Counts: &moderatov1.SweepCounts{Banned: 2099, AlreadyBanned: 1}}
		if !proto.Equal(want, got) {
			t.Errorf("got %v, want %v", got, want)
		}
		if d.standing(late).GetIsBanned() || d.standing(servertest.Viewer).GetIsBanned() {
			t.Error("a user is banned whom the preview did not find")
		}
		d.wantVisible("hello", "free sub")
		events := d.events()[before:]
		if len(events) != 2*2099 {
			t.Fatalf("there are %d events", len(events))
		}
		for i, e := range events {
			fields := payload(t, e)
			kind := []string{"channel.ban", "channel.chat.clear_user_messages"}[i%2]
			if e.Type != kind || fields["moderatorId"] != servertest.Moderator.String() || fields["clientId"] != servertest.Dashboard {
				t.Fatalf("event %d is %s %v", i, e.Type, fields)
			}
			if kind == "channel.ban" && (fields["cause"] != "batch" || fields["batchId"] != got.GetBatchId() || fields["reason"] != "raid" ||
				fields["expiresAt"] != start.Add(time.Hour).String()) {
				t.Fatalf("the event is %v", fields)
			}
		}
		_, err := d.commit(servertest.Moderator, r.GetSweepToken())
		wantReason(t, err, "SWEEP_EXPIRED") // it was used
		if n := len(d.events()) - before; n != 2*2099 {
			t.Errorf("there are %d events after a second commit", n)
		}
		list, err := d.Moderation.ListBanBatches(d.creds[servertest.Owner].Context(), &moderatov1.ListBanBatchesRequest{ChannelId: servertest.Owner.String()})
		if err != nil || len(list.GetRows()) != 1 {
			t.Fatalf("the list is %v (%v)", list, err)
		}
		if row := list.GetRows()[0]; row.GetBatchId() != got.GetBatchId() || row.GetBannedCount() != 2099 || row.GetStillBannedCount() != 2099 ||
			row.GetReason() != "raid" || row.GetBannedBy().GetId() != servertest.Moderator.String() {
			t.Errorf("the row is %v", row)
		}
		undone := d.undo(got.GetBatchId(), true)
		if undone.GetCounts().GetUnbanned() != 2099 || len(undone.GetResults()) != 2099 {
			t.Errorf("the undo returns %v", undone.GetCounts())
		}
		if n := len(d.visible()); n != 2099+2 {
			t.Errorf("%d messages are visible after the undo, want %d", n, 2099+2)
		}
		d.wantSound()
	})
}

// wantSound fails if fsck finds anything, but that the sequencer is late: a test may set the
// clock forward.
func (d *drive) wantSound() {
	d.t.Helper()
	err := fsck.Run(context.Background(), d.Store, eventtype.DefaultRetention(), func(string) {}, func(f fsck.Finding) {
		if f.Check != "events get their position soon" {
			d.t.Errorf("fsck finds %+v", f)
		}
	})
	if err != nil {
		d.t.Error(err)
	}
}

// TestSweepIsCompletedByAnotherServer stops a server before each transaction of a sweep. The
// job of another server completes the sweep in the caller's name. Each store runs a part of the cases.
func TestSweepIsCompletedByAnotherServer(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		gate := &storetest.Gate{}
		config := servertest.Config(url)
		config.DBLayer = gate.Layer()
		s, other := servertest.Start(t, config), servertest.Start(t, servertest.Config(url))
		s.Load(t, servertest.World()...)
		d := newDrive(t, s)
		for passed := range 3 {
			if !storetest.Takes(t, url, fmt.Sprint(passed)) {
				continue
			}
			raiders := d.raid(2100, "free sub")
			token := d.mustPreview().GetSweepToken()
			left := passed
			gate.Fail(func(query string) (int, error) {
				if !strings.Contains(query, "FROM `sweep_chunks` WHERE `sweep_chunks`.`sweep_id` =") {
					return 0, nil
				}
				if left--; left < 0 {
					return 0, errors.New("the server stopped")
				}
				return 0, nil
			})
			key := fmt.Sprint("stopped-after-", passed)
			r := d.mustCommitWithKey(key, token)
			if r.GetStatus() != "IN_PROGRESS" || int(r.GetCounts().GetBanned()) != 1000*passed {
				t.Errorf("stopped after %d transactions: %v", passed, r)
			}
			d.wantSound()
			other.Store.Clock.Advance(time.Minute)
			if err := (&moderation.SweepCompleter{Store: other.Store}).Complete(t.Context()); err != nil {
				t.Fatal(err)
			}
			other.Store.Clock.Advance(-time.Minute)
			gate.Fail(nil)
			for _, id := range []uid.ID{raiders[0], raiders[1000], raiders[2099]} {
				if !d.standing(id).GetIsBanned() {
					t.Errorf("stopped after %d transactions: a user is not banned", passed)
				}
			}
			again := d.mustCommitWithKey(key, token)
			if again.GetStatus() != "COMPLETE" || again.GetBatchId() != r.GetBatchId() || again.GetCounts().GetBanned() != 2100 {
				t.Errorf("stopped after %d transactions, the end is %v", passed, again)
			}
			bans := 0
			for _, e := range d.events() {
				if e.Type == "channel.ban" && payload(t, e)["batchId"] == r.GetBatchId() {
					bans++
					if *e.ActorID != servertest.Moderator {
						t.Fatalf("the actor is %s", e.ActorID)
					}
				}
			}
			if bans != 2100 {
				t.Errorf("stopped after %d transactions: %d events", passed, bans)
			}
			if u := d.undo(r.GetBatchId(), false); u.GetCounts().GetUnbanned() != 2100 {
				t.Errorf("the undo returns %v", u.GetCounts())
			}
		}
	})
}

// TestCommitOfSlowSweepReturnsInProgress holds the transaction that bans back for longer than
// the commit waits. A commit repeated with the idempotency key reports the same batch, and its
// end.
func TestCommitOfSlowSweepReturnsInProgress(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		gate := &storetest.Gate{}
		config := servertest.Config(url)
		config.DBLayer, config.SweepWait = gate.Layer(), time.Second
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		d := newDrive(t, s)
		raider := d.raid(1, "free sub")[0]
		token := d.mustPreview().GetSweepToken()
		gate.Shut("FROM `sweep_chunks` WHERE `sweep_chunks`.`sweep_id` =")
		first := d.mustCommitWithKey("slow", token)
		if first.GetStatus() != "IN_PROGRESS" || first.GetCounts().GetBanned() != 0 || d.standing(raider).GetIsBanned() {
			t.Errorf("after the wait: %v", first)
		}
		_, err := d.commitWithKey("slow", token, glowing(60))
		wantReason(t, err, "IDEMPOTENCY_KEY_REUSED")
		_, err = d.commitWithKey("another", token)
		wantReason(t, err, "SWEEP_EXPIRED")
		gate.Open()
		last := d.mustCommitWithKey("slow", token)
		if last.GetStatus() != "COMPLETE" || last.GetBatchId() != first.GetBatchId() || last.GetCounts().GetBanned() != 1 {
			t.Errorf("the end is %v", last)
		}
		if !d.standing(raider).GetIsBanned() {
			t.Error("the user is not banned")
		}
		d.wantSound()
	})
}

// TestSweepSurvivesLostCommit loses the connection in the COMMIT of the preview, and of each
// transaction of the commit.
func TestSweepSurvivesLostCommit(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		cutter := &storetest.Cutter{}
		config := servertest.Config(url)
		config.DBLayer = cutter.Layer
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		d := newDrive(t, s)
		for _, cuts := range [][]storetest.Cut{{storetest.BeforeCommit}, {storetest.AfterCommit}} {
			for _, of := range []string{"storeSweep", "recordSweep", "continueSweep"} {
				d.raid(3, "free sub")
				before := len(d.events())
				cutter.CutNext("change.apply", cuts...)
				if of != "storeSweep" {
					cutter.CutNext("never")
				}
				token := d.mustPreview().GetSweepToken()
				switch of {
				case "recordSweep":
					cutter.CutNext("change.authorized", cuts...)
				case "continueSweep":
					cutter.CutNext("change.ApplyUnattended", cuts...)
				}
				r := d.mustCommit(token)
				if r.GetStatus() != "COMPLETE" || r.GetCounts().GetBanned() != 3 || cutter.Made() != len(cuts) {
					t.Errorf("%v in %s: %v after %d cuts", cuts, of, r, cutter.Made())
				}
				if n := len(d.events()) - before; n != 6 {
					t.Errorf("%v in %s: %d events", cuts, of, n)
				}
			}
		}
	})
}

// TestConcurrentCommits commits a sweep several times at once, also by another moderator.
func TestConcurrentCommits(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		d.raid(1500, "free sub")
		token := d.mustPreview().GetSweepToken()
		var group sync.WaitGroup
		responses, errs := make([]*moderatov1.CommitSweepResponse, 6), make([]error, 6)
		for i := range responses {
			group.Go(func() {
				as := []uid.ID{servertest.Moderator, servertest.Owner}[i%2]
				responses[i], errs[i] = d.commit(as, token)
			})
		}
		group.Wait()
		batches := map[string]int{}
		for i, err := range errs {
			if err == nil && responses[i].GetStatus() == "COMPLETE" {
				batches[responses[i].GetBatchId()]++
			} else if reason(err) != "SWEEP_EXPIRED" {
				t.Errorf("got %v and %v", responses[i], err)
			}
		}
		if len(batches) != 1 || len(d.events()) != 3000 {
			t.Errorf("there are %v batches and %d events", batches, len(d.events()))
		}
	})
}

// TestSweepFindsDeletedUsersNoMore deletes users between a preview and its commit: one before
// the eraser, and one after.
func TestSweepFindsDeletedUsersNoMore(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		raiders := d.raid(3, "free sub")
		token := d.mustPreview().GetSweepToken()
		if _, err := d.Directory.DeleteUser(d.chat.Context(), &platformv1.DeleteUserRequest{UserId: raiders[1].String()}); err != nil {
			t.Fatal(err)
		}
		r := d.mustCommit(token)
		if c := r.GetCounts(); c.GetBanned() != 2 || c.GetUserNotFound() > 1 {
			t.Errorf("the counts are %v", c)
		}
		d.wantChunks(0)
	})
}

// TestEraserRemovesUsersFromPreviews deletes a user whom a preview found.
func TestEraserRemovesUsersFromPreviews(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		raiders := d.raid(3, "free sub")
		d.mustPreview()
		if _, err := d.Directory.DeleteUser(d.chat.Context(), &platformv1.DeleteUserRequest{UserId: raiders[1].String()}); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			rows, err := d.Store.Read.SweepChunk.Query().All(t.Context())
			if err != nil || len(rows) != 1 {
				t.Fatalf("%d chunks (%v)", len(rows), err)
			}
			isLeft := func(i int) bool { return bytes.Contains(rows[0].UserIds, raiders[i][:]) }
			if isLeft(0) && !isLeft(1) && isLeft(2) && len(rows[0].UserIds) == 32 {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("the chunk has %x", rows[0].UserIds)
			}
		}
	})
}

// wantChunks fails unless there are so many chunks of users to ban.
func (d *drive) wantChunks(want int) {
	d.t.Helper()
	var got int
	if err := store.QueryRow(d.t.Context(), d.Store.Read, "SELECT COUNT(*) FROM sweep_chunks", nil, &got); err != nil || got != want {
		d.t.Errorf("there are %d chunks (%v), want %d", got, err, want)
	}
}
