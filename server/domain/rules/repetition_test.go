package rules_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// repeated is a rule about repetition, with members of a JSON object.
func repeated(name string, members ...string) string {
	return fmt.Sprintf(`{"name":%q,"kind":"repetition","action":"block","withinSeconds":60,%s}`, name, strings.Join(members, ","))
}

func TestRepetition(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		want := func(what string, user uid.ID, text, code string, more ...string) {
			t.Helper()
			if got := r.say(user, text, more...); got.code() != code {
				t.Errorf("%s: got %q, want %q", what, got.code(), code)
			}
		}
		want("before the rule", servertest.Viewer, "gg", "")
		put := r.rules(`"put":[` + repeated("same", `"sameSender":4`, `"exemptRoles":["vip"]`) + `,` + repeated("many", `"senders":3`, `"exemptRoles":["vip"]`) + `]`)
		vip := servertest.AddUsers(t, r.Store, 1)[0]
		r.role(vip, "vip")
		for range 5 {
			want("a VIP, who does not count", vip, "gg", "")
		}
		id := uid.New()
		for range 3 { // of one message
			want("the second post", servertest.Viewer, "GG", "", withID(id))
		}
		want("another text", servertest.Viewer, "hello", "")
		want("the third post", servertest.Viewer, "gg", "")
		r.rules(`"put":[` + about("spam", "block") + `]`) // the others go on counting
		want("the fourth post", servertest.Viewer, "gg", "MESSAGE_BLOCKED")
		want("a second sender", servertest.Raider, "gg", "")
		want("the owner", servertest.Owner, "gg", "")
		want("a third sender", servertest.Other, "gg", "MESSAGE_BLOCKED")
		r.Store.Clock.Freeze(now.Add(time.Minute))
		want("after the time", servertest.Viewer, "gg", "")
		r.rules(fmt.Sprintf(`"delete":[%q,%q]`, put.id(0), put.id(1)))
		for range 3 {
			want("without the rules", servertest.Viewer, "gg", "")
		}
	})
}

// TestRepetitionOnOtherServers has a sender post through two servers in turns, of which neither has
// a listener.
func TestRepetitionOnOtherServers(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		rooms := []*room{open(t, servertest.Config(url)), newRoom(t, servertest.Start(t, servertest.Config(url)))}
		rooms[0].rules(`"put":[` + repeated("same", `"sameSender":4`) + `]`)
		isRefused := func(text string, wait time.Duration) bool {
			for i := range 3 {
				if got := rooms[i%2].say(servertest.Viewer, text); got.code() != "" {
					t.Fatalf("post %d: got %+v", i, got)
				}
			}
			time.Sleep(wait)
			return rooms[1].say(servertest.Viewer, text).code() == "MESSAGE_BLOCKED"
		}
		text, wait := "gg", 4*time.Millisecond
		for ; !isRefused(text, wait); text += "g" {
			if wait *= 2; wait > 250*time.Millisecond+servertest.Slack/10 {
				t.Fatal("the fourth post is not refused")
			}
		}
		// Another server that starts now knows what is stored.
		third := newRoom(t, servertest.Start(t, servertest.Config(url)))
		if got := third.say(servertest.Viewer, text); got.code() != "MESSAGE_BLOCKED" {
			t.Errorf("on a new server: got %+v", got)
		}
	})
}

// TestStoredMessagesOfExemptSendersDoNotCount makes a rule after users have posted whom it exempts.
func TestStoredMessagesOfExemptSendersDoNotCount(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		r.role(servertest.Other, "vip")
		r.follow(servertest.Raider, now.Add(-time.Hour))
		for _, user := range []uid.ID{servertest.Owner, servertest.Moderator, servertest.Other, servertest.Raider} {
			if got := r.say(user, "gg"); got.code() != "" {
				t.Fatalf("%s: got %+v", user, got)
			}
		}
		r.rules(`"put":[` + repeated("many", `"senders":3`, `"exemptRoles":["vip"]`, `"exemptFollowersOlderThanSeconds":600`) + `]`)
		users := servertest.AddUsers(t, r.Store, 2)
		for i, code := range []string{"", "", "MESSAGE_BLOCKED"} {
			if got := r.say(append(users, servertest.Viewer)[i], "gg"); got.code() != code {
				t.Errorf("sender %d: got %q, want %q", i, got.code(), code)
			}
		}
	})
}
