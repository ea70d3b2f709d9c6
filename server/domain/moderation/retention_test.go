package moderation_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/test/servertest"
)

// retain removes the messages that are older than 30 days.
func (d *drive) retain() {
	d.t.Helper()
	r := chat.NewRetention(d.Store, slog.New(slog.DiscardHandler), chat.MinRetention)
	defer r.Job().Stop(context.WithoutCancel(d.t.Context()))
	for more := true; more; {
		var err error
		if more, err = r.Remove(d.t.Context()); err != nil {
			d.t.Fatal(err)
		}
	}
}

// TestRetentionKeepsWhatOldMessagesProve removes the first message of a regular, and the messages
// of a banned user.
func TestRetentionKeepsWhatOldMessagesProve(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		owner := d.creds[servertest.Owner]
		regular, newcomer := servertest.Viewer, servertest.AddUsers(t, d.Store, 1)[0]
		d.mustPost(regular, "first")
		want := d.card(owner, regular).GetMessages()[0]
		d.mustPost(servertest.Raider, "spam")
		d.mustBan(servertest.Owner, servertest.Raider)
		d.Store.Clock.Advance(chat.MinRetention + time.Minute)
		d.mustPost(regular, "back again")
		d.mustPost(newcomer, "hello")
		d.retain()
		d.wantVisible("back again", "hello")

		if account := d.card(owner, regular).GetCard().GetAccount(); !account.GetFirstMessageAt().AsTime().Equal(want.GetCreatedAt().AsTime()) {
			t.Errorf("the account of the regular is %v, want the first message at %v", account, want.GetCreatedAt().AsTime())
		}
		first := func(r *moderatov1.PreviewSweepRequest) { r.FirstMessageWithinSeconds = new(int64(60)) }
		d.wantMatched("first message", d.mustPreview(noText, first), newcomer)
		if got := d.evidence("channel.ban", servertest.Raider); len(got) != 1 || got[0] != "spam" {
			t.Errorf("the evidence of the ban is %q", got)
		}
		d.wantSound()
	})
}

// TestUndoAfterRetention bans two users. Before the batch is undone, the messages of one become
// too old.
func TestUndoAfterRetention(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		users := servertest.AddUsers(t, d.Store, 2)
		d.mustPost(users[0], "older")
		d.Store.Clock.Advance(2 * time.Hour)
		d.mustPost(users[1], "newer")
		d.Store.Clock.Advance(chat.MinRetention - 3*time.Hour)
		batch := d.banAll(servertest.Owner, users...)
		d.Store.Clock.Advance(90 * time.Minute)
		limit := d.Store.Clock.Local().Add(-chat.MinRetention)
		d.retain()
		undone, err := d.Moderation.UndoBanBatch(d.creds[servertest.Owner].Context(), &moderatov1.UndoBanBatchRequest{
			ChannelId: servertest.Owner.String(), BatchId: batch.GetBatchId(), RestoreMessages: true,
		})
		if err != nil || undone.GetCounts().GetUnbanned() != 2 {
			t.Fatalf("the undo: %v, %v", undone, err)
		}
		d.wantVisible("newer")
		if before := undone.GetMessagesRemovedBefore().AsTime(); before.Before(limit.Time()) || before.After(limit.Add(time.Minute).Time()) {
			t.Errorf("the undo restored messages from %s on, want %s", before, limit)
		}
		if reverted := d.revert(servertest.Moderator, limit, true); reverted.GetMessagesRemovedBefore() != nil {
			t.Errorf("a revert of nothing restored messages from %v on", reverted.GetMessagesRemovedBefore())
		}
		d.mustBan(servertest.Moderator, users[0])
		reverted := d.revert(servertest.Moderator, limit, true)
		if !reverted.GetMessagesRemovedBefore().AsTime().Equal(undone.GetMessagesRemovedBefore().AsTime()) {
			t.Errorf("the revert restored messages from %v on", reverted.GetMessagesRemovedBefore())
		}
	})
}
