package moderation_test

import (
	"strings"
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
	"github.com/moderato-live/moderato/server/uid"
)

// TestAfterglow posts during and after the afterglow of a sweep, as users of every kind.
func TestAfterglow(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		users := servertest.AddUsers(t, d.Store, 7)
		vip, og, follower, innocent, late, later, replier := users[0], users[1], users[2], users[3], users[4], users[5], users[6]
		d.role(vip, "vip")
		d.role(og, "og")
		d.follow(follower, 8*24*time.Hour)
		d.raid(1, "free sub")
		d.mustPost(late, "hello")
		token := d.mustPreview().GetSweepToken()
		wantReason(t, d.post(replier, "free sub"), "OK") // no afterglow yet
		r := d.mustCommit(token, glowing(60), func(r *moderatov1.CommitSweepRequest) { r.Reason, r.DurationSeconds = new("raid"), new(int64(3600)) })
		for _, id := range []uid.ID{servertest.Owner, servertest.Moderator, vip, og, follower} {
			wantReason(t, d.post(id, "free sub"), "OK")
		}
		wantReason(t, d.post(innocent, "free subscribers"), "OK")
		before := len(d.events())
		joined := start.Add(time.Minute - 1)
		d.Store.Clock.Freeze(joined)
		wantReason(t, d.post(late, "ｆrее ѕub"), "USER_BANNED")
		wantReason(t, d.post(late, "hello"), "USER_BANNED")
		events := d.events()[before:]
		if len(events) != 2 {
			t.Fatalf("there are %d events", len(events))
		}
		fields := payload(t, events[0])
		if fields["batchId"] != r.GetBatchId() || fields["cause"] != "batch" || fields["moderatorId"] != servertest.Moderator.String() ||
			fields["bannedUserId"] != late.String() || fields["reason"] != "raid" || fields["expiresAt"] != joined.Add(time.Hour).String() {
			t.Errorf("the event is %v", fields)
		}
		bot := d.As(t, servertest.Viewer)
		response := d.REST(t, bot, "POST", "/v1/chats/messages", channelBody(`"message":"FREE SUB"`))
		if response.Status != 403 || !strings.Contains(response.Body, "USER_BANNED") || !d.standing(servertest.Viewer).GetIsBanned() {
			t.Errorf("a post over REST: %d %s", response.Status, response.Body)
		}
		d.Store.Clock.Freeze(start.Add(time.Minute))
		wantReason(t, d.post(later, "free sub"), "OK")
		undone := d.undo(r.GetBatchId(), true)
		if undone.GetCounts().GetUnbanned() != 3 || undone.GetResults()[1].GetUserId() != late.String() {
			t.Errorf("the undo returns %v", undone)
		}
	})
}

// TestAfterglowOutlastsBans has an afterglow that is longer than the bans of its sweep: a ban
// that joins the batch begins with the post, and lasts as long as the others.
func TestAfterglowOutlastsBans(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		late := servertest.AddUsers(t, d.Store, 1)[0]
		d.raid(1, "free sub")
		d.mustPost(late, "hello")
		r := d.mustCommit(d.mustPreview().GetSweepToken(), glowing(60), func(r *moderatov1.CommitSweepRequest) { r.DurationSeconds = new(int64(10)) })
		joined := start.Add(30 * time.Second)
		d.Store.Clock.Freeze(joined)
		wantReason(t, d.post(late, "free sub"), "USER_BANNED")
		d.Store.Clock.Freeze(joined.Add(10*time.Second - time.Millisecond))
		wantReason(t, d.post(late, "why"), "USER_BANNED")
		if undone := d.undo(r.GetBatchId(), true); undone.GetCounts().GetUnbanned() != 1 {
			t.Errorf("the undo returns %v", undone)
		}
		d.wantVisible("hello")
	})
}

// TestAfterglowOnAnotherServer posts to a server whose index of afterglows is older than the
// sweep, and younger.
func TestAfterglowOnAnotherServer(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		first, second := servertest.Start(t, servertest.Config(url)), servertest.Start(t, servertest.Config(url))
		first.Load(t, servertest.World()...)
		a, other := newDrive(t, first), newDrive(t, second)
		a.raid(1, "free sub")
		users := servertest.AddUsers(t, a.Store, 2)
		r := a.mustCommit(a.mustPreview().GetSweepToken(), glowing(600))
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			if reason(other.post(users[0], "free sub")) == "USER_BANNED" {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("the other server does not know of the afterglow")
			}
		}
		a.undo(r.GetBatchId(), false)
		// The other server may not know of the undo yet, but the database does.
		wantReason(t, other.post(users[1], "free sub"), "OK")
	})
}
