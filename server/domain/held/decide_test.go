package held_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/message"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// person is a person in a response.
type person struct{ ID, Username, DisplayName, AvatarURL string }

// decided is the result of a decision.
type decided struct {
	MessageID, Result string
	Status, DecidedAt *string
	DecidedBy         *person
}

func approve(id uid.ID) string { return fmt.Sprintf(`{"messageId":%q,"decision":"approve"}`, id) }

func deny(id uid.ID, more ...string) string {
	return fmt.Sprintf(`{"messageId":%q,"decision":"deny"%s}`, id, strings.Join(more, ""))
}

// decide makes decisions as a user, and returns their results.
func (r *room) decide(as servertest.Credentials, decisions ...string) []decided {
	r.t.Helper()
	var b struct {
		Data struct{ Results []decided }
	}
	response := r.call(as, http.MethodPost, "/v1/chats/held/decisions", fmt.Sprintf(`{"channelId":%q,"decisions":[%s]}`, servertest.Owner, strings.Join(decisions, ",")), &b)
	if response.Status != http.StatusOK {
		r.t.Fatal(response.Body)
	}
	return b.Data.Results
}

// want makes one decision as the moderator, and compares its result.
func (r *room) want(what, decision, result string) decided {
	r.t.Helper()
	got := r.decide(r.moderator, decision)
	if len(got) != 1 || got[0].Result != result {
		r.t.Errorf("%s: got %+v, want %s", what, got, result)
	}
	return got[0]
}

// visible returns the texts of the messages that are public, the oldest first.
func (r *room) visible() (all []string) {
	r.t.Helper()
	var b struct {
		Data struct{ Messages []struct{ Message string } }
	}
	r.call(r.moderator, http.MethodGet, "/v1/chats/messages?channelId="+servertest.Owner.String(), "", &b)
	for _, m := range slices.Backward(b.Data.Messages) {
		all = append(all, m.Message)
	}
	return all
}

// TestApprovedMessageIsPosted approves a message later: it is posted then, once, with its id.
func TestApprovedMessageIsPosted(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		id := r.hold(servertest.Viewer, "hello")
		later := now.Add(time.Minute)
		r.Store.Clock.Freeze(later)
		got := r.want("the first decision", approve(id), "APPROVED")
		if got.MessageID != id.String() || *got.Status != "APPROVED" || *got.DecidedAt != later.String() || got.DecidedBy.ID != servertest.Moderator.String() || got.DecidedBy.Username != "tomasz_wrona" {
			t.Errorf("got %+v", got)
		}
		r.wantStatus(id, "APPROVED")
		m := storetest.Must(r.Store.Read.Message.Get(t.Context(), id))
		if m.SentAt != later || m.Text != "hello" || m.UserID != servertest.Viewer || !slices.Equal(r.visible(), []string{"hello"}) {
			t.Errorf("got %+v", m)
		}
		if again := r.post(servertest.Viewer, "other", messageID(id)); again.Message != "hello" || again.CreatedAt != later.String() {
			t.Errorf("a repeat returns %+v, want the message", again)
		}
		if again := r.post(servertest.Viewer, "more"); again.Code != "" {
			t.Errorf("the second message is refused: %+v", again)
		}
		if e := r.updates()[0]; e.GetModeratorId() != servertest.Moderator.String() || e.GetDecidedBy().GetDisplayName() != "Tomasz Wrona" || e.GetDecidedAt().AsTime() != later.Time() {
			t.Errorf("got %v", e)
		}
	})
}

// TestApprovedMessageIsAsItWasSent approves a reply of a bot.
func TestApprovedMessageIsAsItWasSent(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		to := storetest.Must(r.Chat.PostMessage(r.service.Context(), &platformv1.PostMessageRequest{
			ChannelId: servertest.Owner.String(), UserId: servertest.Moderator.String(), Text: "who is there?",
		})).GetMessage().GetId()
		id := uid.New()
		_, err := r.Chat.PostMessage(r.service.Context(), &platformv1.PostMessageRequest{
			ChannelId: servertest.Owner.String(), UserId: servertest.Viewer.String(), Text: "GG", MessageId: id.String(),
			ReplyToMessageId: to, IsBot: true,
		})
		if reason := servertest.OutcomeOf(err).Reason; reason != "MESSAGE_HELD" {
			t.Fatal(reason)
		}
		if row := r.list("").Rows[0]; row.ReplyToMessageID == nil || *row.ReplyToMessageID != to {
			t.Errorf("got %+v, want a reply to %s", row, to)
		}
		r.want("an approval", approve(id), "APPROVED")
		m := storetest.Must(r.Store.Read.Message.Get(t.Context(), id))
		if !m.IsBot || m.ReplyToMessageID.String() != to {
			t.Errorf("got %v", m)
		}
	})
}

// TestFirstDecisionWins decides about a message again.
func TestFirstDecisionWins(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		id := r.hold(servertest.Viewer, "hello")
		r.want("the first decision", deny(id), "DENIED")
		r.Store.Clock.Freeze(now.Add(time.Second))
		got := r.decide(r.owner, approve(id))[0]
		if got.Result != "ALREADY_DECIDED" || *got.Status != "DENIED" || got.DecidedBy.ID != servertest.Moderator.String() || *got.DecidedAt != now.String() {
			t.Errorf("got %+v", got)
		}
		r.wantStatus(id, "DENIED")
		if all := r.visible(); all != nil {
			t.Errorf("got %q, want no message", all)
		}
		if again := r.post(servertest.Viewer, "hello", messageID(id)); again.Code != "MESSAGE_BLOCKED" {
			t.Errorf("got %+v, want MESSAGE_BLOCKED", again)
		}
	})
}

// TestDecisionsInOneRequest decides about several messages, in the order of the request.
func TestDecisionsInOneRequest(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		one, two, three := r.hold(servertest.Viewer, "one"), r.hold(servertest.Viewer, "two"), r.hold(servertest.Raider, "three")
		var got []string
		for _, d := range r.decide(r.moderator, approve(three), deny(two), approve(uid.New()), approve(one)) {
			got = append(got, d.MessageID+" "+d.Result)
		}
		if got[0] != three.String()+" APPROVED" || got[1] != two.String()+" DENIED" || !strings.HasSuffix(got[2], " NOT_FOUND") || got[3] != one.String()+" APPROVED" {
			t.Errorf("got %q", got)
		}
		if all := r.visible(); len(all) != 2 || slices.Contains(all, "two") {
			t.Errorf("got %q", all)
		}
		other := storetest.Must(r.Store.Read.HeldMessage.Get(t.Context(), one))
		if other.ChannelID != servertest.Owner {
			t.Error(other)
		}
	})
}

// TestMessageOfAnotherChannelIsNotFound decides about a message of a channel as a moderator of
// two.
func TestMessageOfAnotherChannelIsNotFound(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		id := r.hold(servertest.Viewer, "hello")
		var b struct {
			Data struct{ Results []decided }
		}
		r.call(r.moderator, http.MethodPost, "/v1/chats/held/decisions", fmt.Sprintf(`{"channelId":%q,"decisions":[%s]}`, servertest.Other, deny(id)), &b)
		if b.Data.Results[0].Result != "NOT_FOUND" || b.Data.Results[0].Status != nil {
			t.Errorf("got %+v", b.Data.Results)
		}
		r.wantStatus(id, "PENDING")
	})
}

// TestSilencedSenderIsRefused approves messages of senders who were banned, muted or deleted
// meanwhile. A sanction that was imported as of before they were held has not cancelled them.
func TestSilencedSenderIsRefused(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		banned, imported, deleted := r.hold(servertest.Viewer, "one"), r.hold(servertest.Raider, "two"), r.hold(servertest.Other, "three")
		r.ban(servertest.Viewer)
		r.muteByImport(servertest.Raider, now.Add(-time.Second), 10*time.Minute)
		r.write(func(ctx context.Context, tx *ent.Tx) error {
			return tx.User.UpdateOneID(servertest.Other).SetDeletedAt(now).Exec(ctx)
		})
		for _, id := range []uid.ID{banned, imported, deleted} {
			got := r.want("a silenced sender", approve(id), "SENDER_REFUSED")
			if *got.Status != "CANCELLED" || got.DecidedBy != nil {
				t.Errorf("got %+v", got)
			}
			r.wantStatus(id, "CANCELLED")
			r.want("a silenced sender", deny(id), "ALREADY_DECIDED")
		}
		if n := storetest.Must(r.Store.Read.Message.Query().Where(message.ChannelID(servertest.Owner)).Count(t.Context())); n > 0 {
			t.Errorf("%d messages were posted", n)
		}
	})
}

// TestDenialMutes denies a message and mutes its sender: other messages of the sender are
// cancelled, also those that the same request approves.
func TestDenialMutes(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		one, two, three := r.hold(servertest.Viewer, "one"), r.hold(servertest.Viewer, "two"), r.hold(servertest.Viewer, "three")
		got := r.decide(r.moderator, approve(two), deny(one, `,"muteSeconds":60`))
		if got[0].Result != "SENDER_REFUSED" || got[1].Result != "DENIED" {
			t.Errorf("got %+v", got)
		}
		r.wantStatus(one, "DENIED")
		r.wantStatus(two, "CANCELLED")
		r.wantStatus(three, "CANCELLED")
		mute := storetest.Must(r.Store.Read.Mute.Query().Only(t.Context()))
		if mute.UserID != servertest.Viewer || mute.ModeratorID != servertest.Moderator || mute.ExpiresAt != now.Add(time.Minute) {
			t.Errorf("got %+v", mute)
		}
	})
}

// TestDenialKeepsLongerMute denies messages of a sender who is muted already.
func TestDenialKeepsLongerMute(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		for _, c := range []struct{ seconds, want int }{{599, 600}, {601, 601}} {
			id := r.hold(servertest.Viewer, "hello")
			r.muteByImport(servertest.Viewer, now.Add(-time.Second), 10*time.Minute+time.Second)
			r.want("a denial", deny(id, fmt.Sprintf(`,"muteSeconds":%d`, c.seconds)), "DENIED")
			mute := storetest.Must(r.Store.Read.Mute.Query().Only(t.Context()))
			if want := now.Add(time.Duration(c.want) * time.Second); mute.ExpiresAt != want {
				t.Errorf("%d s: the mute ends at %s, want %s", c.seconds, mute.ExpiresAt, want)
			}
			r.REST(t, r.moderator, http.MethodDelete, "/v1/moderation/mute", fmt.Sprintf(`{"channelId":%q,"mutedUserId":%q}`, servertest.Owner, servertest.Viewer))
		}
	})
}

// TestWrongFieldsAreNamed sends decisions and claims that are wrong.
func TestWrongFieldsAreNamed(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		id := r.hold(servertest.Viewer, "hello")
		for field, given := range map[string]string{
			"decisions":                "",
			"decisions[1].messageId":   deny(id) + "," + approve(id),
			"decisions[0].muteSeconds": fmt.Sprintf(`{"messageId":%q,"decision":"approve","muteSeconds":60}`, id),
			"decisions[0].decision":    fmt.Sprintf(`{"messageId":%q,"decision":"maybe"}`, id),
			"messageIds":               "",
			"messageIds[1]":            fmt.Sprintf("%q,%q", id, id),
			"messageIds[0]":            `"one"`,
		} {
			list, _, _ := strings.Cut(field, "[")
			path := map[string]string{"decisions": "decisions", "messageIds": "claims"}[list]
			var b struct{ Data posted }
			r.call(r.moderator, http.MethodPost, "/v1/chats/held/"+path, fmt.Sprintf(`{"channelId":%q,%q:[%s]}`, servertest.Owner, list, given), &b)
			if b.Data.Code != "INVALID_ARGUMENT" || b.Data.Violations[0].Field != field {
				t.Errorf("%s: got %+v", field, b.Data)
			}
		}
		r.wantStatus(id, "PENDING")
	})
}
