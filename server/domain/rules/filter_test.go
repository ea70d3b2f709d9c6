package rules_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/event"
	"github.com/moderato-live/moderato/ent/message"
	"github.com/moderato-live/moderato/ent/mute"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// said is the answer to a post.
type said struct {
	Status  int `json:"-"`
	Message string
	Data    struct{ Code, MessageID, Message string }
}

// code returns the code of the error; empty if the message is posted.
func (s said) code() string { return s.Data.Code }

// say posts a message as a user, with members of a JSON object and headers.
func (r *room) say(as uid.ID, text string, more ...string) (s said) {
	r.t.Helper()
	encoded, _ := json.Marshal(text)
	members, key := "", ""
	for _, m := range more {
		if cut, isKey := strings.CutPrefix(m, "key "); isKey {
			key = cut
		} else {
			members += "," + m
		}
	}
	request := r.Request(r.t, r.service, http.MethodPost, "/v1/chats/messages", fmt.Sprintf(`{"channelId":%q,"senderId":%q,"message":%s%s}`, servertest.Owner, as, encoded, members))
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response := r.Do(r.t, request)
	if err := json.Unmarshal([]byte(response.Body), &s); err != nil {
		r.t.Fatal(err, response.Body)
	}
	s.Status = response.Status
	return s
}

// about is a rule about a term, with an action and members of a JSON object.
func about(term, action string, more ...string) string {
	return fmt.Sprintf(`{"name":%q,"kind":"terms","terms":[%q],"action":%q%s}`, "about "+term, term, action, strings.Join(append([]string{""}, more...), ","))
}

func withID(id uid.ID) string { return fmt.Sprintf(`"messageId":%q`, id) }

// flags listens to what moderators hear of flagged messages.
func (r *room) flags() <-chan *moderatov1.ChatFlagEvent {
	ctx, cancel := context.WithCancel(r.moderator.Context())
	r.t.Cleanup(cancel)
	stream := storetest.Must(moderatov1.NewEventsServiceClient(r.Conn).WatchEvents(ctx, &moderatov1.WatchEventsRequest{
		ChannelId: servertest.Owner.String(), Type: []string{"channel.chat.flag"},
	}))
	storetest.Must(stream.Recv()) // it listens
	heard := make(chan *moderatov1.ChatFlagEvent, 100)
	go func() {
		for {
			m, err := stream.Recv()
			if err != nil {
				return
			}
			if m.GetEvent() != nil {
				heard <- m.GetEvent().GetChatFlag()
			}
		}
	}()
	return heard
}

// TestActionsOfRules posts a message for each action.
func TestActionsOfRules(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		flags := r.flags()
		put := r.rules(`"put":[` + strings.Join([]string{
			about("flagged", "flag"), about("deleted", "delete", `"message":"Deleted."`), about("held", "hold"), about("blocked", "block", `"message":"No."`),
			about("muted", "mute", `"muteSeconds":30,"message":"Quiet."`), about("plain", "block"),
		}, ",") + `]`)
		posted := r.say(servertest.Viewer, "is it flagged?")
		select {
		case e := <-flags:
			if e.GetMessageId() != posted.Data.MessageID || e.GetUser().GetId() != servertest.Viewer.String() || e.GetMessage() != "is it flagged?" || len(e.GetRules()) != 1 ||
				e.GetRules()[0] != put.id(0) || len(e.GetSpans()) != 1 || e.GetSpans()[0].GetStart() != 6 || e.GetSpans()[0].GetEnd() != 13 {
				t.Errorf("the moderators hear %v", e)
			}
		case <-time.After(20 * time.Second):
			t.Error("the moderators hear nothing")
		}
		for text, want := range map[string]string{"blocked": "No.", "plain": "", "deleted": "Deleted.", "muted": "Quiet."} {
			got := r.say(servertest.Raider, text)
			if got.Status != http.StatusForbidden || got.code() != "MESSAGE_BLOCKED" || got.Message != want && want != "" || got.Data.Message != want || strings.Contains(got.Message, text) {
				t.Errorf("%s: got %+v", text, got)
			}
			if text == "muted" {
				r.wantMuted(put.id(4), now)
			}
			r.unmute()
		}
		if got := r.say(servertest.Viewer, "held"); got.code() != "MESSAGE_HELD" {
			t.Errorf("held: got %+v", got)
		}
		r.wantStored("is it flagged?", "deleted")
		if n := len(r.visible()); n != 1 {
			t.Errorf("%d messages are visible", n)
		}
	})
}

// TestDeletedMessageStaysRefused repeats posts of deleted messages when no rule matches them any more: if a
// rule deleted the message, it is refused again, and if a moderator did, the response has it.
func TestDeletedMessageStaysRefused(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		put := r.rules(`"put":[` + about("deleted", "delete") + `]`)
		byRule, byModerator := uid.New(), uid.New()
		r.say(servertest.Raider, "deleted", withID(byRule))
		r.say(servertest.Viewer, "hello", withID(byModerator))
		r.REST(t, r.moderator, http.MethodDelete, "/v1/chats/messages", fmt.Sprintf(`{"channelId":%q,"messageId":%q}`, servertest.Owner, byModerator))
		for _, change := range []string{`"put":[` + about("hello", "delete") + `]`, fmt.Sprintf(`"delete":[%q]`, put.id(0))} {
			if got := r.say(servertest.Raider, "deleted", withID(byRule)); got.code() != "MESSAGE_BLOCKED" {
				t.Errorf("a message that a rule deleted: got %+v", got)
			}
			if got := r.say(servertest.Viewer, "hello", withID(byModerator)); got.code() != "" || got.Data.MessageID != byModerator.String() {
				t.Errorf("a message that a moderator deleted: got %+v", got)
			}
			r.rules(change)
		}
		for range 2 {
			if got := r.say(servertest.Raider, "deleted", withID(byRule)); got.code() != "MESSAGE_BLOCKED" {
				t.Errorf("the rule is deleted: got %+v", got)
			}
			r.set(`"uniqueSeconds":60`) // a post is confirmed in its transaction
		}
		r.wantStored("deleted", "hello")
	})
}

// wantStored checks which messages are stored.
func (r *room) wantStored(texts ...string) {
	r.t.Helper()
	for _, text := range texts {
		if n := storetest.Must(r.Store.Read.Message.Query().Where(message.Text(text)).Count(r.t.Context())); n != 1 {
			r.t.Errorf("%d messages %q are stored", n, text)
		}
	}
	if n := storetest.Must(r.Store.Read.Message.Query().Count(r.t.Context())); n != len(texts) {
		r.t.Errorf("%d messages are stored, want %q", n, texts)
	}
}

// visible returns the ids of the messages that viewers see.
func (r *room) visible() (ids []string) {
	r.t.Helper()
	response := r.REST(r.t, r.owner, http.MethodGet, "/v1/chats/messages?channelId="+servertest.Owner.String(), "")
	var list struct {
		Data struct{ Messages []struct{ ID string } }
	}
	if err := json.Unmarshal([]byte(response.Body), &list); err != nil {
		r.t.Fatal(err, response.Body)
	}
	for _, m := range list.Data.Messages {
		ids = append(ids, m.ID)
	}
	return ids
}

// TestLongestMuteWins has two rules mute the sender of a message. The mute is the longer one.
func TestLongestMuteWins(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		r.rules(`"put":[` + about("spam", "mute", `"muteSeconds":10`) + `,` + about("muted", "mute", `"muteSeconds":30`) + `,` + about("shouted", "block") + `]`)
		if got := r.say(servertest.Raider, "spam muted shouted"); got.code() != "MESSAGE_BLOCKED" {
			t.Errorf("got %+v", got)
		}
		row := storetest.Must(r.Store.Read.Mute.Query().Where(mute.UserID(servertest.Raider)).Only(t.Context()))
		if row.ExpiresAt != now.Add(30*time.Second) || row.Reason != "about muted" {
			t.Errorf("the mute is %v", row)
		}
	})
}

// wantMuted checks the mute of Raider by a rule of Moderator.
func (r *room) wantMuted(rule string, now instant.Instant) {
	r.t.Helper()
	row := storetest.Must(r.Store.Read.Mute.Query().Where(mute.UserID(servertest.Raider)).Only(r.t.Context()))
	if row.ModeratorID != servertest.Moderator || row.RuleID == nil || row.RuleID.String() != rule || row.ExpiresAt != now.Add(30*time.Second) || row.Reason != "about muted" {
		r.t.Errorf("the mute is %v", row)
	}
	kept := storetest.Must(r.Store.Read.Event.Query().Where(event.Type("channel.mute")).Order(ent.Desc(event.FieldSequence)).First(r.t.Context()))
	mutes := servertest.Events[moderatov1.MuteEvent](r.t, r.Store, "channel.mute")
	e := mutes[len(mutes)-1]
	if e.GetCause() != "rule" || e.GetRuleId() != rule || e.GetModeratorId() != servertest.Moderator.String() || e.GetReason() != "about muted" {
		r.t.Errorf("the event is %v", e)
	}
	if kept.Evidence == nil || !strings.Contains(*kept.Evidence, `"text":"muted"`) {
		r.t.Errorf("the evidence is %v", kept.Evidence)
	}
}

// unmute ends the mute of Raider.
func (r *room) unmute() {
	r.t.Helper()
	r.REST(r.t, r.owner, http.MethodDelete, "/v1/moderation/mute", fmt.Sprintf(`{"channelId":%q,"mutedUserId":%q}`, servertest.Owner, servertest.Raider))
}

func TestStrictestActionIsDone(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		order := []string{"flag", "delete", "hold", "block", "mute"}
		var put []string
		for _, action := range order {
			more := []string{fmt.Sprintf(`"message":"by %s"`, action)}
			if action == "mute" {
				more = append(more, `"muteSeconds":30`)
			}
			put = append(put, about("x"+action, action, more...))
		}
		r.rules(`"put":[` + strings.Join(put, ",") + `]`)
		for i, action := range order[1:] {
			got := r.say(servertest.Raider, "x"+action+" x"+order[i]+" xflag")
			if want := map[bool]string{true: "MESSAGE_HELD", false: "MESSAGE_BLOCKED"}[action == "hold"]; got.code() != want || want == "MESSAGE_BLOCKED" && got.Message != "by "+action {
				t.Errorf("%s: got %+v", action, got)
			}
			r.unmute()
		}
	})
}

func TestWhoIsExemptFromRules(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		r.rules(`"put":[` + about("spam", "block", `"exemptRoles":["vip","subscriber"]`, `"exemptFollowersOlderThanSeconds":600`) + `]`)
		want := func(what string, user uid.ID, code string) {
			t.Helper()
			if got := r.say(user, "spam"); got.code() != code {
				t.Errorf("%s: got %q, want %q", what, got.code(), code)
			}
		}
		want("the owner", servertest.Owner, "")
		want("a moderator", servertest.Moderator, "")
		want("a viewer", servertest.Viewer, "MESSAGE_BLOCKED")
		r.follow(servertest.Viewer, now.Add(-599*time.Second))
		want("a new follower", servertest.Viewer, "MESSAGE_BLOCKED")
		r.Store.Clock.Freeze(now.Add(time.Second))
		want("a follower", servertest.Viewer, "")
		want("another", servertest.Raider, "MESSAGE_BLOCKED")
		r.role(servertest.Raider, "og")
		want("an OG", servertest.Raider, "MESSAGE_BLOCKED")
		r.subscribe(servertest.Raider, now.Add(time.Hour))
		want("a subscriber", servertest.Raider, "")
	})
}

// TestRulesThatAreNotInForce disables a rule, lets one expire while no job runs, and changes others.
func TestRulesThatAreNotInForce(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		want := func(what, text, code string) {
			t.Helper()
			if got := r.say(servertest.Viewer, text); got.code() != code {
				t.Errorf("%s: got %q, want %q", what, got.code(), code)
			}
		}
		want("before", "spam", "")
		put := r.rules(`"put":[` + about("spam", "block") + `,` + about("off", "block", `"enabled":false`) + `,` + about("short", "block", fmt.Sprintf(`"expiresAt":%q`, now.Add(time.Minute))) + `]`)
		want("at once", "spam", "MESSAGE_BLOCKED")
		want("disabled", "off", "")
		want("before the end", "short", "MESSAGE_BLOCKED")
		r.Store.Clock.Freeze(now.Add(time.Minute))
		busy := storetest.Must(r.Store.ChangeQueues.Acquire(t.Context(), servertest.Owner)) // the job waits
		if r.Store.HasOneWriter() {
			busy.End()
		} else {
			defer busy.End()
		}
		want("after the end", "short", "")
		if r.Store.HasOneWriter() {
			r.rules(fmt.Sprintf(`"delete":[%q]`, put.id(0)))
			want("deleted", "spam", "")
		}
	})
}

// TestStoredMessageIsNotRefused repeats a post after a rule was made that would refuse it.
func TestStoredMessageIsNotRefused(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		id := uid.New()
		if got := r.say(servertest.Raider, "spam", withID(id)); got.code() != "" {
			t.Fatalf("got %+v", got)
		}
		rule := ""
		for _, action := range []string{"block", "delete", "mute", "hold"} {
			more := []string{}
			if action == "mute" {
				more = append(more, `"muteSeconds":30`)
			}
			if rule != "" {
				more = append(more, fmt.Sprintf(`"ruleId":%q`, rule))
			}
			rule = r.rules(`"put":[` + about("spam", action, more...) + `]`).id(0)
			if got := r.say(servertest.Raider, "spam", withID(id)); got.code() != "" || got.Data.MessageID != id.String() {
				t.Errorf("%s: got %+v", action, got)
			}
			if got := r.say(servertest.Viewer, "spam", withID(id)); action != "block" && got.code() != "INVALID_ARGUMENT" {
				t.Errorf("%s of another: got %+v", action, got)
			}
			r.REST(t, r.owner, http.MethodDelete, "/v1/moderation/mute", fmt.Sprintf(`{"channelId":%q,"mutedUserId":%q}`, servertest.Owner, servertest.Viewer))
		}
	})
}

// TestRefusalsThatChangeSomethingAreRepeated repeats posts with their message ids and idempotency
// keys.
func TestRefusalsThatChangeSomethingAreRepeated(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		r.rules(`"put":[` + about("deleted", "delete") + `,` + about("muted", "mute", `"muteSeconds":30`) + `,` + about("held", "hold") + `]`)
		id := uid.New()
		for range 2 {
			if got := r.say(servertest.Viewer, "deleted", withID(id)); got.code() != "MESSAGE_BLOCKED" {
				t.Errorf("deleted: got %+v", got)
			}
		}
		for _, text := range []string{"deleted", "held", "muted"} {
			first := r.say(servertest.Raider, text, "key "+text)
			if again := r.say(servertest.Raider, text, "key "+text); again != first {
				t.Errorf("%s: got %+v, then %+v", text, first, again)
			}
		}
		if n := storetest.Must(r.Store.Read.HeldMessage.Query().Count(t.Context())); n != 1 {
			t.Errorf("%d messages are held", n)
		}
		if n := storetest.Must(r.Store.Read.Event.Query().Where(event.Type("channel.mute")).Count(t.Context())); n != 1 {
			t.Errorf("%d mutes were made", n)
		}
		if n := storetest.Must(r.Store.Read.Message.Query().Where(message.Text("deleted")).Count(t.Context())); n != 2 {
			t.Errorf("%d messages are stored", n)
		}
	})
}

// TestMuteOfFormerModerator has a rule mute in the name of the owner once its editor moderates no
// more.
func TestMuteOfFormerModerator(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		r.rules(`"put":[` + about("muted", "mute", `"muteSeconds":30`) + `]`)
		r.REST(t, r.owner, http.MethodDelete, "/v1/moderation/moderators", fmt.Sprintf(`{"channelId":%q,"userId":%q}`, servertest.Owner, servertest.Moderator))
		if got := r.say(servertest.Raider, "muted"); got.code() != "MESSAGE_BLOCKED" {
			t.Errorf("got %+v", got)
		}
		if row := storetest.Must(r.Store.Read.Mute.Query().Only(t.Context())); row.ModeratorID != servertest.Owner {
			t.Errorf("the mute is of %s", row.ModeratorID)
		}
	})
}
