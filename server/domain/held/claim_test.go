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

// claim is the result of a claim.
type claim struct {
	MessageID, Result string
	ClaimedBy         *person
	ClaimedUntil      *string
}

// claim claims messages as a user.
func (r *room) claim(as servertest.Credentials, ids ...uid.ID) []claim {
	r.t.Helper()
	var b struct {
		Data struct{ Results []claim }
	}
	text := ""
	for _, id := range ids {
		text += fmt.Sprintf(",%q", id)
	}
	response := r.call(as, http.MethodPost, "/v1/chats/held/claims", fmt.Sprintf(`{"channelId":%q,"messageIds":[%s]}`, servertest.Owner, text[1:]), &b)
	if response.Status != http.StatusOK {
		r.t.Fatal(response.Body)
	}
	return b.Data.Results
}

// TestClaims claims messages as two moderators. A claim keeps nobody from deciding.
func TestClaims(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		id, decided, due := r.hold(servertest.Viewer, "hello"), r.hold(servertest.Raider, "hello"), now.Add(10*time.Minute)
		r.want("a decision", deny(decided), "DENIED")
		until := now.Add(30 * time.Second)
		want := func(what string, got claim, result string, by uid.ID, until instant.Instant) {
			t.Helper()
			isClaimed := !by.IsZero()
			if got.Result != result || (got.ClaimedBy != nil) != isClaimed || isClaimed && (got.ClaimedBy.ID != by.String() || *got.ClaimedUntil != until.String()) {
				t.Errorf("%s: got %+v, want %s", what, got, result)
			}
		}
		got := r.claim(r.moderator, uid.New(), id, decided)
		want("an unknown message", got[0], "NOT_FOUND", uid.ID{}, 0)
		want("the first claim", got[1], "CLAIMED", servertest.Moderator, until)
		want("a message that waits no more", got[2], "ALREADY_DECIDED", uid.ID{}, 0)
		r.Store.Clock.Freeze(until - 1)
		want("a claim of another", r.claim(r.owner, id)[0], "TAKEN", servertest.Moderator, until)
		if rows := r.list("").Rows; len(rows) != 1 || rows[0].ClaimedBy.ID != servertest.Moderator.String() || *rows[0].ClaimedUntil != until.String() {
			t.Errorf("got %+v", rows)
		}
		want("a repeated claim", r.claim(r.moderator, id)[0], "CLAIMED", servertest.Moderator, until.Add(30*time.Second-1))
		r.Store.Clock.Freeze(until.Add(30*time.Second - 1))
		if rows := r.list("").Rows; len(rows) != 1 || rows[0].ClaimedBy != nil || rows[0].ClaimedUntil != nil {
			t.Errorf("got %+v", rows)
		}
		want("a claim after that", r.claim(r.owner, id)[0], "CLAIMED", servertest.Owner, until.Add(60*time.Second-1))
		r.want("a decision about the message of another", deny(id), "DENIED")
		if rows := r.list("&status=DENIED").Rows; len(rows) != 2 || rows[0].ClaimedBy != nil || rows[1].ClaimedBy != nil {
			t.Errorf("got %+v", rows)
		}
		last := r.hold(servertest.Other, "hello")
		r.Store.Clock.Freeze(due.Add(time.Minute))
		want("a message that is due", r.claim(r.owner, last)[0], "ALREADY_DECIDED", uid.ID{}, 0)
		r.wantStatus(last, "EXPIRED")
	})
}
