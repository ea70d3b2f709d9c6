package chat_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/event"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

func pin(t *testing.T, s *servertest.Server, c servertest.Credentials, id any) servertest.Response {
	t.Helper()
	return s.REST(t, c, http.MethodPost, "/v1/chats/pinned", fmt.Sprintf(`{"channelId":%q,"messageId":%q}`, servertest.Owner, id))
}

func unpin(t *testing.T, s *servertest.Server, c servertest.Credentials) servertest.Response {
	t.Helper()
	return s.REST(t, c, http.MethodDelete, "/v1/chats/pinned", fmt.Sprintf(`{"channelId":%q}`, servertest.Owner))
}

// pinned returns the pinned message that an app sees; nil if there is none.
func pinned(t *testing.T, s *servertest.Server) any {
	t.Helper()
	got := data(t, s.REST(t, app(t, s, authn.UsersRead), http.MethodGet, "/v1/chats/pinned?channelId="+servertest.Owner.String(), ""))
	if message, isThere := got["message"]; isThere && got["channelId"] == servertest.Owner.String() {
		return message
	}
	t.Fatalf("got %v", got)
	return nil
}

// pinRows counts the pins that are stored.
func pinRows(t *testing.T, s *servertest.Server) int {
	t.Helper()
	return storetest.Must(s.Store.Read.PinnedMessage.Query().Count(t.Context()))
}

// TestPinMessage pins two messages, one after the other, and removes the pin.
func TestPinMessage(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		moderator, viewer := s.As(t, servertest.Moderator), s.As(t, servertest.Viewer)
		first := data(t, post(t, s, viewer, ""))["messageId"].(string)
		second := data(t, post(t, s, moderator, ""))["messageId"].(string)
		if got := pinned(t, s); got != nil {
			t.Errorf("at first, the pinned message is %v", got)
		}
		want(t, "a viewer", pin(t, s, viewer, first), 403, "NOT_CHANNEL_MODERATOR")
		want(t, "a token without the scope", pin(t, s, scoped(t, s, servertest.Moderator, authn.UsersRead), first), 403, "SCOPE_MISSING")
		want(t, "an unknown message", pin(t, s, moderator, servertest.Nobody), 404, "MESSAGE_NOT_FOUND")
		elsewhere := data(t, postIn(t, s, viewer, servertest.Other, ""))["messageId"]
		want(t, "a message of another channel", pin(t, s, moderator, elsewhere), 404, "MESSAGE_NOT_FOUND")
		for range 2 { // the second time without an event
			want(t, "a message", pin(t, s, moderator, strings.ToUpper(first)), 200, "")
		}
		want(t, "another message", pin(t, s, s.As(t, servertest.Owner), second), 200, "")
		listed := data(t, listAs(t, s, moderator, ""))["messages"].([]any)[0]
		if diff := cmp.Diff(listed, pinned(t, s)); diff != "" {
			t.Errorf("the pinned message (-listed +pinned):\n%s", diff)
		}
		want(t, "unpin as a viewer", unpin(t, s, viewer), 403, "NOT_CHANNEL_MODERATOR")
		want(t, "unpin", unpin(t, s, moderator), 200, "")
		want(t, "unpin again", unpin(t, s, moderator), 404, "MESSAGE_NOT_FOUND")
		if got := pinned(t, s); got != nil || pinRows(t, s) != 0 {
			t.Errorf("at the end, the pinned message is %v", got)
		}
		wantPinEvents(t, s, `"moderatorId":"`+servertest.Moderator.String()+`","clientId":"dashboard","message":{"id":"`+first,
			`"moderatorId":"`+servertest.Owner.String()+`","clientId":"dashboard","message":{"id":"`+second,
			`"moderatorId":"`+servertest.Moderator.String()+`","clientId":"dashboard","message":null`)
	})
}

// wantPinEvents checks that the channel has some events of pins, in this order, and no others.
func wantPinEvents(t *testing.T, s *servertest.Server, payloads ...string) {
	t.Helper()
	events := storetest.Must(s.Store.Read.Event.Query().Order(ent.Asc(event.FieldSequence)).All(t.Context()))
	if len(events) != len(payloads) {
		t.Fatalf("got %d events, want %d", len(events), len(payloads))
	}
	for i, e := range events {
		if e.Type != "channel.chat.pin" || !strings.Contains(e.Payload, payloads[i]) {
			t.Errorf("got %s %s, want %s", e.Type, e.Payload, payloads[i])
		}
	}
}

// TestDeletedMessageIsPinnedNoMore deletes a pinned message in each way. Its pin goes with the
// row of the message.
func TestDeletedMessageIsPinnedNoMore(t *testing.T) {
	eachPurged(t, func(p *purged) {
		ban := fmt.Sprintf(`{"channelId":%q,"banUserId":%q,"restoreMessages":true}`, servertest.Owner, servertest.Viewer)
		for what, hide := range map[string]func(id string) servertest.Response{
			"deleted": func(id string) servertest.Response { return remove(p.t, p.Server, p.moderator, id) },
			"cleared": func(string) servertest.Response { return clearChat(p.t, p.Server, p.moderator) },
			"of a banned user": func(string) servertest.Response {
				return p.REST(p.t, p.moderator, http.MethodPost, "/v1/moderation/ban",
					fmt.Sprintf(`{"channelId":%q,"banUserId":%q}`, servertest.Owner, servertest.Viewer))
			},
		} {
			id := p.say()
			p.must(pin(p.t, p.Server, p.moderator, id))
			p.must(hide(id))
			if got := pinned(p.t, p.Server); got != nil {
				p.t.Errorf("%s: the pinned message is %v", what, got)
			}
			want(p.t, what, pin(p.t, p.Server, p.moderator, id), 404, "MESSAGE_NOT_FOUND")
			if what == "of a banned user" {
				p.must(p.REST(p.t, p.moderator, http.MethodDelete, "/v1/moderation/ban", ban))
				if got, _ := pinned(p.t, p.Server).(map[string]any); got["id"] != id {
					p.t.Errorf("after the ban was undone, the pinned message is %v", got)
				}
				p.must(hide(id))
				p.wait(chat.RestorableFor)
			}
			p.wait(5 * time.Minute)
			if got := pinRows(p.t, p.Server); got != 0 {
				p.t.Errorf("%s: after the purge, %d pins are left", what, got)
			}
			if what == "of a banned user" {
				p.must(p.REST(p.t, p.moderator, http.MethodDelete, "/v1/moderation/ban", ban))
			}
		}
	})
}
