package held_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
)

// TestSanctionCancels silences a sender in each way. The sender's messages are cancelled, and
// nobody else's.
func TestSanctionCancels(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		other := r.hold(servertest.Other, "hello")
		for _, c := range []struct{ path, members, field string }{
			{"/v1/moderation/ban", fmt.Sprintf(`,"banUserId":%q`, servertest.Viewer), "banUserId"},
			{"/v1/moderation/mute", fmt.Sprintf(`,"mutedUserId":%q`, servertest.Viewer), "mutedUserId"},
			{"/v1/moderation/bans", fmt.Sprintf(`,"users":[{"userId":%q},{"userId":%q}]`, servertest.Raider, servertest.Viewer), ""},
		} {
			first, second := r.hold(servertest.Viewer, "one"), r.hold(servertest.Viewer, "two")
			r.moderate(c.path, c.members)
			r.wantStatus(first, "CANCELLED")
			r.wantStatus(second, "CANCELLED")
			if last := r.updates()[len(r.updates())-1]; last.GetModeratorId() != servertest.Moderator.String() || last.GetDecidedBy() != nil {
				t.Errorf("%s: got %v", c.path, last)
			}
			if c.field != "" {
				r.REST(t, r.moderator, http.MethodDelete, c.path, fmt.Sprintf(`{"channelId":%q,%q:%q}`, servertest.Owner, c.field, servertest.Viewer))
			}
		}
		r.wantStatus(other, "PENDING")
	})
}

// TestImportedSanctionCancels imports a ban and a mute, which are over before moderators decide. The
// messages that were held until then are cancelled, without an event.
func TestImportedSanctionCancels(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		r.set(`"holdSeconds":86400`)
		banned, muted := r.hold(servertest.Raider, "hello"), r.hold(servertest.Viewer, "hello")
		r.Store.Clock.Freeze(now.Add(time.Second))
		later := r.hold(servertest.Viewer, "later")
		r.Store.Clock.Freeze(now.Add(time.Minute))
		r.banByImport(servertest.Raider, now, 10*time.Minute)
		r.muteByImport(servertest.Viewer, now, 10*time.Minute)
		r.Store.Clock.Freeze(now.Add(11 * time.Minute))
		for _, id := range []uid.ID{banned, muted} {
			if row := r.row(id); row.Status != "CANCELLED" || row.DueAt != nil || row.DecidedAt == nil || *row.DecidedAt != now.Add(time.Minute) {
				t.Errorf("got %+v", row)
			}
			r.want("an approval", approve(id), "ALREADY_DECIDED")
		}
		if n := len(r.updates()); n > 0 {
			t.Errorf("%d events", n)
		}
		r.want("an approval of a message that was held later", approve(later), "APPROVED")
	})
}

// TestClearingCancels clears a chat in which as many messages wait as may.
func TestClearingCancels(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		id := r.hold(servertest.Viewer, "hello")
		r.fill(maxPending-1, now)
		began := time.Now()
		r.clear()
		t.Log("cleared in", time.Since(began))
		r.wantStatus(id, "CANCELLED")
		if n := len(r.updates()); n != maxPending {
			t.Errorf("%d events, want %d", n, maxPending)
		}
	})
}

// TestCancelledMessageIsNotPostedAgain repeats the post of a message that was cancelled.
func TestCancelledMessageIsNotPostedAgain(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		id := r.hold(servertest.Viewer, "hello")
		r.clear()
		r.set(`"firstMessage":"allow"`)
		if got := r.post(servertest.Viewer, "hello", messageID(id)); got.Code != "MESSAGE_BLOCKED" {
			t.Errorf("got %+v, want MESSAGE_BLOCKED", got)
		}
		if got := r.post(servertest.Viewer, "hello", messageID(uid.New())); got.Code != "" {
			t.Errorf("got %+v", got)
		}
	})
}

// clear clears the chat.
func (r *room) clear() {
	r.t.Helper()
	if response := r.REST(r.t, r.moderator, http.MethodDelete, "/v1/chats", fmt.Sprintf(`{"channelId":%q}`, servertest.Owner)); response.Status != http.StatusOK {
		r.t.Fatal(response.Body)
	}
}
