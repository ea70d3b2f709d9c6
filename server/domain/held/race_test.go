package held_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/moderato-live/moderato/ent/event"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/held"
	"github.com/moderato-live/moderato/server/domain/rules"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// together runs functions at the same time.
func together(all ...func()) {
	var group sync.WaitGroup
	for _, f := range all {
		group.Go(f)
	}
	group.Wait()
}

// eachPair runs a test in a room with two servers, whose clocks are frozen at the same time.
func eachPair(t *testing.T, test func(first, second *room)) {
	t.Helper()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		first := servertest.Start(t, servertest.Config(url))
		first.Load(t, servertest.World()...)
		second := servertest.Start(t, servertest.Config(url))
		one, two := newRoom(t, first), newRoom(t, second)
		one.set(`"firstMessage":"hold"`)
		two.Store.Clock.Freeze(one.freeze())
		test(one, two)
	})
}

// TestOneDecisionHolds has two moderators on two servers decide about messages that become due at
// the same moment, while both servers end what is due. Each message ends once, and everybody learns
// how.
func TestOneDecisionHolds(t *testing.T) {
	eachPair(t, func(first, second *room) {
		for round := range 6 {
			first.set(fmt.Sprintf(`"onHoldExpiry":%q`, []string{"deny", "approve"}[round%2]))
			user := servertest.AddUsers(t, first.Store, 1)[0]
			id := first.hold(user, "hello")
			due := first.row(id).ExpiresAt
			var byFirst, bySecond decided
			first.Store.Clock.Freeze(due - 1)
			second.Store.Clock.Freeze(due - 1)
			together(
				func() { byFirst = first.decide(first.owner, approve(id))[0] },
				func() { bySecond = second.decide(second.moderator, deny(id))[0] },
				func() {
					first.Store.Clock.Freeze(due)
					second.Store.Clock.Freeze(due)
					_ = (&held.Service{Store: second.Store, Live: second.hub(), Posted: rules.RecordTexts}).Expire(t.Context())
				},
			)
			row := first.row(id)
			first.wantStatus(id, row.Status)
			results := []string{byFirst.Result, bySecond.Result}
			want := map[string][][]string{
				"APPROVED": {{"APPROVED", "ALREADY_DECIDED"}, {"ALREADY_DECIDED", "ALREADY_DECIDED"}},
				"DENIED":   {{"ALREADY_DECIDED", "DENIED"}},
				"EXPIRED":  {{"EXPIRED", "EXPIRED"}},
			}[row.Status]
			if !slices.ContainsFunc(want, func(w []string) bool { return slices.Equal(w, results) }) {
				t.Errorf("the status is %s, the results are %q", row.Status, results)
			}
			if *byFirst.Status != row.Status || *bySecond.Status != row.Status {
				t.Errorf("the status is %s, the moderators learn %s and %s", row.Status, *byFirst.Status, *bySecond.Status)
			}
			isPosted, err := first.Store.Read.Message.Get(t.Context(), id)
			if (isPosted != nil) != (row.Status == "APPROVED") {
				t.Errorf("the status is %s, the message is %v (%v)", row.Status, isPosted, err)
			}
		}
	})
}

// TestBanWhileApproving bans a sender while a message is approved: the message is cancelled, or the
// ban deletes it.
func TestBanWhileApproving(t *testing.T) {
	eachPair(t, func(first, second *room) {
		for range 6 {
			user := servertest.AddUsers(t, first.Store, 1)[0]
			id := first.hold(user, "hello")
			var got decided
			together(
				func() { got = first.decide(first.owner, approve(id))[0] },
				func() { second.ban(user) },
			)
			first.wantStatus(id, map[string]string{"APPROVED": "APPROVED", "SENDER_REFUSED": "CANCELLED"}[got.Result])
			if all := first.visible(); all != nil {
				t.Errorf("%s: %q is visible", got.Result, all)
			}
		}
	})
}

// TestDeletionWhileApproving deletes a sender while messages are approved: nothing of the sender
// remains.
func TestDeletionWhileApproving(t *testing.T) {
	eachPair(t, func(first, second *room) {
		for range 3 {
			user := servertest.AddUsers(t, first.Store, 1)[0]
			ids := []uid.ID{first.hold(user, "one"), first.hold(user, "two")}
			together(
				func() { first.decide(first.owner, approve(ids[0])) },
				func() { second.erase(user) },
			)
			if got := first.decide(first.owner, approve(ids[1]))[0].Result; got != "SENDER_REFUSED" && got != "NOT_FOUND" {
				t.Errorf("got %s after the deletion", got)
			}
			if all := first.visible(); all != nil {
				t.Errorf("%q is visible", all)
			}
		}
	})
}

// store stores a message as a post does that was checked before a message with its id was held.
func (r *room) store(id, channel, from uid.ID) {
	r.t.Helper()
	m := chat.Message{ID: id, ChannelID: channel, UserID: from, Text: "first", SentAt: storetest.Must(r.Store.Clock.Now(r.t.Context(), r.Store.Read))}
	st := storetest.Must(chat.ReadSender(r.t.Context(), r.Store, channel, from))
	storetest.Must(chat.Post(r.asService(), r.Store, st, m, &chat.Message{}))
}

// TestPostBeforeDecision stores messages with the ids of messages that wait.
func TestPostBeforeDecision(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		denial := func(id uid.ID) string { return deny(id) }
		for _, c := range []struct {
			what          string
			channel, from uid.ID
			decide        func(uid.ID) string
			result, ends  string
			visible       []string
		}{
			{"of another channel", servertest.Other, servertest.Viewer, approve, "ALREADY_DECIDED", "CANCELLED", nil},
			{"of another sender", servertest.Owner, servertest.Raider, approve, "ALREADY_DECIDED", "CANCELLED", []string{"first"}},
			{"of another sender", servertest.Owner, servertest.Raider, denial, "DENIED", "DENIED", []string{"first", "first"}},
			{"of the sender", servertest.Owner, servertest.Viewer, denial, "DENIED", "DENIED", []string{"first", "first"}},
			{"of the sender", servertest.Owner, servertest.Viewer, approve, "APPROVED", "APPROVED", []string{"first", "first", "first"}},
		} {
			id := uid.New()
			user := servertest.AddUsers(t, r.Store, 1)[0]
			if c.from != servertest.Raider {
				c.from = user
			}
			r.hold(user, "second", messageID(id))
			r.store(id, c.channel, c.from)
			got := r.want(c.what, c.decide(id), c.result)
			if *got.Status != c.ends {
				t.Errorf("%s: got %+v", c.what, got)
			}
			r.wantStatus(id, c.ends)
			if all := r.visible(); !slices.Equal(all, c.visible) {
				t.Errorf("%s: %q are visible, want %q", c.what, all, c.visible)
			}
		}
		if n := storetest.Must(r.Store.Read.Event.Query().Where(event.Type("channel.chat.message_delete")).Count(t.Context())); n != 1 {
			t.Errorf("%d messages were deleted, want 1", n)
		}
	})
}

// erase deletes a user.
func (r *room) erase(user uid.ID) {
	r.t.Helper()
	if _, err := r.Directory.DeleteUser(r.service.Context(), &platformv1.DeleteUserRequest{UserId: user.String()}); err != nil {
		r.t.Error(err)
	}
}
