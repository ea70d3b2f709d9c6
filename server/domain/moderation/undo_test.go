package moderation_test

import (
	"context"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
)

// TestMessagesAreRestorableForADay undoes batches just before and after the day, with
// purges in between.
func TestMessagesAreRestorableForADay(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		d.mustPost(servertest.Raider, "raider")
		d.mustPost(servertest.Viewer, "viewer")
		first, second := d.banAll(servertest.Owner, servertest.Raider), d.banAll(servertest.Owner, servertest.Viewer)
		d.Store.Clock.Freeze(start.Add(chat.RestorableFor - 1))
		drain(t, d.Store)
		d.undo(first.GetBatchId(), true)
		d.wantVisible("raider")
		d.Store.Clock.Freeze(start.Add(chat.RestorableFor))
		if r := d.undo(second.GetBatchId(), true); r.GetCounts().GetUnbanned() != 1 {
			t.Errorf("after a day, the undo returns %v", r)
		}
		d.wantVisible("raider")
		d.Store.Clock.Freeze(start.Add(chat.RestorableFor + time.Hour))
		drain(t, d.Store)
		d.wantVisible("raider")
		var rows int
		if err := store.QueryRow(t.Context(), d.Store.Read, "SELECT COUNT(*) FROM messages", nil, &rows); err != nil || rows != 1 {
			t.Errorf("%d rows of messages are left (%v), want 1", rows, err)
		}
	})
}

// TestUndoKeepsMessagesImportedDuringTheBan imports a message of a banned user, which is
// visible, and undoes the batch.
func TestUndoKeepsMessagesImportedDuringTheBan(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		d.mustPost(servertest.Raider, "before")
		r := d.banAll(servertest.Owner, servertest.Raider)
		d.Load(t, &platformv1.Record{Kind: &platformv1.Record_Message{Message: &platformv1.MessageRecord{
			Id: uid.New().String(), ChannelId: servertest.Owner.String(), UserId: servertest.Raider.String(), Text: "imported",
			SentAt: start.Add(time.Second).Proto(),
		}}})
		d.wantVisible("imported")
		d.undo(r.GetBatchId(), true)
		d.Store.Clock.Freeze(start.Add(3 * time.Minute))
		drain(t, d.Store)
		d.wantVisible("before", "imported")
	})
}

// TestUndoRestoresNothingOfADeletedUser undoes a batch after the deletion of one of its
// users. TestUndoRestoresOnlyWhatTheBatchDeleted also runs the eraser.
func TestUndoRestoresNothingOfADeletedUser(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		d.mustPost(servertest.Raider, "raider")
		d.mustPost(servertest.Viewer, "viewer")
		r := d.banAll(servertest.Owner, servertest.Raider, servertest.Viewer)
		if _, err := d.Directory.DeleteUser(d.chat.Context(), &platformv1.DeleteUserRequest{UserId: servertest.Raider.String()}); err != nil {
			t.Fatal(err)
		}
		undone := d.undo(r.GetBatchId(), true)
		if rows := undone.GetResults(); len(rows) != 1 || rows[0].GetUserId() != servertest.Viewer.String() {
			t.Errorf("the undo returns %v", undone)
		}
		d.wantVisible("viewer")
	})
}

// TestUndoAfterTheBansExpired posts a message after a timed ban of a batch expired, and then
// undoes the batch: the new message stays, and the old ones do not return.
func TestUndoAfterTheBansExpired(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		d.mustPost(servertest.Raider, "before")
		r, err := d.Moderation.BanUsers(d.creds[servertest.Owner].Context(), &moderatov1.BanUsersRequest{
			ChannelId: servertest.Owner.String(), DurationSeconds: new(int64(60)), Users: []*moderatov1.BatchTarget{{UserId: servertest.Raider.String()}},
		})
		wantReason(t, err, "OK")
		d.Store.Clock.Freeze(start.Add(time.Minute))
		d.mustPost(servertest.Raider, "after")
		undone := d.undo(r.GetBatchId(), true)
		if undone.GetResults()[0].GetStatus() != "NOT_BANNED" {
			t.Errorf("the undo returns %v", undone)
		}
		d.wantVisible("after")
		if err := newExpirer(d).ExpireBans(context.Background()); err != nil {
			t.Fatal(err)
		}
		if ends := d.ends(); len(ends) != 1 || ends[0]["cause"] != "expired" || ends[0]["batchId"] != r.GetBatchId() {
			t.Errorf("the ends are %v", ends)
		}
	})
}
