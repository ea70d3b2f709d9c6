package chat_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
)

// data returns the data of a response as an object.
func data(t *testing.T, r servertest.Response) map[string]any {
	t.Helper()
	var body struct{ Data map[string]any }
	if err := json.Unmarshal([]byte(r.Body), &body); err != nil {
		t.Fatalf("%s: %v", r.Body, err)
	}
	return body.Data
}

func post(t *testing.T, s *servertest.Server, c servertest.Credentials, more string) servertest.Response {
	t.Helper()
	return s.REST(t, c, http.MethodPost, "/v1/chats/messages", fmt.Sprintf(`{"channelId":%q,"message":" hello "%s}`, servertest.Owner, more))
}

func remove(t *testing.T, s *servertest.Server, c servertest.Credentials, id any) servertest.Response {
	t.Helper()
	return s.REST(t, c, http.MethodDelete, "/v1/chats/messages", fmt.Sprintf(`{"channelId":%q,"messageId":%q}`, servertest.Owner, id))
}

func clearChat(t *testing.T, s *servertest.Server, c servertest.Credentials) servertest.Response {
	t.Helper()
	return s.REST(t, c, http.MethodDelete, "/v1/chats", fmt.Sprintf(`{"channelId":%q}`, servertest.Owner))
}

// listed returns the ids of the messages that a moderator sees, newest first.
func listed(t *testing.T, s *servertest.Server, query string) (ids []string) {
	t.Helper()
	r := s.REST(t, s.As(t, servertest.Moderator), http.MethodGet, "/v1/chats/messages?channelId="+servertest.Owner.String()+query, "")
	rows, ok := data(t, r)["messages"].([]any)
	if !ok {
		t.Fatalf("list: %s", r.Body)
	}
	for _, row := range rows {
		ids = append(ids, row.(map[string]any)["id"].(string))
	}
	return ids
}

// scoped returns credentials of a user with some scopes.
func scoped(t *testing.T, s *servertest.Server, user uid.ID, scopes ...string) servertest.Credentials {
	t.Helper()
	return s.Token(t, authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: user, Scopes: scopes})
}

func want(t *testing.T, what string, r servertest.Response, status int, code string) {
	t.Helper()
	if got, _ := data(t, r)["code"].(string); r.Status != status || got != code {
		t.Errorf("%s: got %d %s, want %d %s", what, r.Status, r.Body, status, code)
	}
}

// TestWhoMayPost posts with each kind of token.
func TestWhoMayPost(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		viewer, raider := fmt.Sprintf(`,"senderId":%q`, servertest.Viewer), fmt.Sprintf(`,"senderId":%q`, servertest.Raider)
		app, backend := s.AsApp(t), s.AsService(t)
		acting := backend
		acting.ActingUser = servertest.Viewer
		want(t, "an app to which the user granted another scope", post(t, s, app, viewer), 403, "GRANT_MISSING")
		_, err := s.Access.PutGrant(backend.Context(), &platformv1.PutGrantRequest{Grant: &platformv1.GrantRecord{
			ClientId: servertest.Dashboard, UserId: servertest.Viewer.String(), Scopes: []string{authn.UsersRead, authn.UsersBot},
		}})
		if err != nil {
			t.Fatal(err)
		}
		bot := scoped(t, s, servertest.Viewer, authn.UsersBot)
		for _, c := range []struct {
			what   string
			by     servertest.Credentials
			more   string
			sender uid.ID
			code   string
		}{
			{"a user", bot, "", servertest.Viewer, ""},
			{"a user that names itself", bot, viewer, servertest.Viewer, ""},
			{"a user for another", bot, raider, uid.ID{}, "NOT_SELF"},
			{"a user who may moderate", scoped(t, s, servertest.Viewer, authn.ChannelModerate), "", servertest.Viewer, ""},
			{"a user without the scope", scoped(t, s, servertest.Viewer, authn.UsersRead), "", uid.ID{}, "SCOPE_MISSING"},
			{"an app that may only moderate", s.Token(t, authn.NewToken{Kind: authn.App, ClientID: servertest.Dashboard, Scopes: []string{authn.ChannelModerate}}), viewer, uid.ID{}, "SCOPE_MISSING"},
			{"an app", app, viewer, servertest.Viewer, ""},
			{"an app for a user who granted nothing", app, raider, uid.ID{}, "GRANT_MISSING"},
			{"an app without a sender", app, "", uid.ID{}, "INVALID_ARGUMENT"},
			{"a backend", backend, raider, servertest.Raider, ""},
			{"a backend without a sender", backend, "", uid.ID{}, "INVALID_ARGUMENT"},
			{"a backend that acts for a user", acting, "", servertest.Viewer, ""},
			{"a backend that acts for another user", acting, raider, uid.ID{}, "NOT_SELF"},
			{"an unknown sender", backend, fmt.Sprintf(`,"senderId":%q`, servertest.Nobody), uid.ID{}, "USER_NOT_FOUND"},
		} {
			r := post(t, s, c.by, c.more)
			got := data(t, r)
			if code, _ := got["code"].(string); code != c.code {
				t.Errorf("%s: got %d %s, want %q", c.what, r.Status, r.Body, c.code)
			}
			if c.code == "" && (len(got) != 5 || got["senderId"] != c.sender.String() || got["message"] != "hello" || got["channelId"] != servertest.Owner.String()) {
				t.Errorf("%s: got %s", c.what, r.Body)
			}
		}
	})
}

// TestPostsOfSilencedUsersAreForbidden posts as a muted and as a banned user, over REST.
func TestPostsOfSilencedUsersAreForbidden(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		moderator, raider := s.As(t, servertest.Moderator), s.As(t, servertest.Raider)
		id := uid.New().String()
		again := fmt.Sprintf(`,"messageId":%q`, id)
		for range 2 {
			if r := post(t, s, raider, again); r.Status != http.StatusOK || data(t, r)["messageId"] != id {
				t.Errorf("a repeated post: %d %s", r.Status, r.Body)
			}
		}
		if got := listed(t, s, ""); len(got) != 1 {
			t.Errorf("a repeated post stored %d messages", len(got))
		}
		want(t, "the id of another message", post(t, s, moderator, again), 400, "INVALID_ARGUMENT")
		muted := s.REST(t, moderator, "POST", "/v1/moderation/mute", fmt.Sprintf(`{"channelId":%q,"mutedUserId":%q}`, servertest.Owner, servertest.Raider))
		r := post(t, s, raider, "")
		want(t, "muted", r, 403, "USER_MUTED")
		if until := data(t, muted)["muteExpiresAt"]; data(t, r)["muteExpiresAt"] != until {
			t.Errorf("got %s, want muteExpiresAt %v", r.Body, until)
		}
		s.REST(t, moderator, "POST", "/v1/moderation/ban", fmt.Sprintf(`{"channelId":%q,"banUserId":%q}`, servertest.Owner, servertest.Raider))
		want(t, "banned", post(t, s, raider, ""), 403, "USER_BANNED")
	})
}

// TestWhoMayDeleteAMessage deletes as each caller; a message that is gone is not found, and
// a repeated post does not restore it.
func TestWhoMayDeleteAMessage(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		bot := scoped(t, s, servertest.Viewer, authn.UsersBot)
		said := func() string { return data(t, post(t, s, bot, ""))["messageId"].(string) }
		id := said()
		for what, c := range map[string]struct {
			by   servertest.Credentials
			code string
		}{
			"another user":                {s.As(t, servertest.Raider), "NOT_CHANNEL_MODERATOR"},
			"another bot":                 {scoped(t, s, servertest.Raider, authn.UsersBot), "SCOPE_MISSING"},
			"a moderator without scope":   {scoped(t, s, servertest.Moderator, authn.UsersBot), "SCOPE_MISSING"},
			"the sender without a scope":  {scoped(t, s, servertest.Viewer, authn.UsersRead), "SCOPE_MISSING"},
			"the sender that may not bot": {scoped(t, s, servertest.Viewer, authn.ChannelModerate), "NOT_CHANNEL_MODERATOR"},
		} {
			want(t, what, remove(t, s, c.by, id), 403, c.code)
		}
		acting := s.AsService(t)
		acting.ActingUser = servertest.Moderator
		for what, by := range map[string]servertest.Credentials{
			"the sender": bot, "a moderator": scoped(t, s, servertest.Moderator, authn.ChannelModerate), "the owner": s.As(t, servertest.Owner), "a backend for a moderator": acting,
		} {
			id := said()
			if r := remove(t, s, by, id); r.Status != http.StatusOK {
				t.Errorf("%s: %d %s", what, r.Status, r.Body)
			}
			if got := listed(t, s, ""); len(got) != 1 {
				t.Errorf("%s: %d messages are left, want 1", what, len(got))
			}
			want(t, what+" again", remove(t, s, by, id), 404, "MESSAGE_NOT_FOUND")
			post(t, s, bot, fmt.Sprintf(`,"messageId":%q`, id))
			if got := listed(t, s, "&userId="+servertest.Viewer.String()); len(got) != 1 {
				t.Errorf("a repeated post restored the message: %q", got)
			}
		}
		elsewhere := fmt.Sprintf(`{"channelId":%q,"messageId":%q}`, servertest.Other, id)
		want(t, "through another channel", s.REST(t, s.As(t, servertest.Other), "DELETE", "/v1/chats/messages", elsewhere), 404, "MESSAGE_NOT_FOUND")
		events, err := s.Store.Read.Event.Query().All(context.Background())
		if err != nil || len(events) != 4 {
			t.Fatalf("%d events (%v), want one for each deletion", len(events), err)
		}
		for _, e := range events {
			if e.Type != "channel.chat.message_delete" || *e.TargetID != servertest.Viewer || !strings.Contains(e.Payload, `"targetUserId":"`+servertest.Viewer.String()) {
				t.Errorf("got the event %s %s", e.Type, e.Payload)
			}
		}
		advance(t, s.Store)
		if got := rows(t, s.Store, servertest.Viewer); got != 1 {
			t.Errorf("%d rows are left after the purge, want 1", got)
		}
	})
}

// advance lets the time pass after which the rows of deleted messages are purged.
func advance(t *testing.T, s *store.Store) {
	t.Helper()
	s.Clock.Advance(5 * time.Minute)
	purge(t, s)
}

// TestClearChat clears a chat of messages with different generations of their senders.
func TestClearChat(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		moderator, raider := s.As(t, servertest.Moderator), s.As(t, servertest.Raider)
		fill(t, s.Store, servertest.Viewer, 0, 250)
		ban := fmt.Sprintf(`{"channelId":%q,"banUserId":%q}`, servertest.Owner, servertest.Raider)
		s.REST(t, moderator, "POST", "/v1/moderation/ban", ban)
		s.REST(t, moderator, "DELETE", "/v1/moderation/ban", ban)
		post(t, s, raider, "") // of generation 1
		want(t, "a viewer", clearChat(t, s, raider), 403, "NOT_CHANNEL_MODERATOR")
		for range 2 { // again when there is nothing
			if r := clearChat(t, s, moderator); r.Status != http.StatusOK {
				t.Fatal(r.Body)
			}
			if got := listed(t, s, ""); len(got) != 0 {
				t.Errorf("%d messages are left", len(got))
			}
		}
		later := data(t, post(t, s, raider, ""))["messageId"]
		fill(t, s.Store, servertest.Viewer, 1000, 3) // from before: an import restores none
		for _, query := range []string{"", "&userId=" + servertest.Raider.String()} {
			if got := listed(t, s, query); len(got) != 1 || got[0] != later {
				t.Errorf("%q: got %q, want the message after the clearing", query, got)
			}
		}
		page, err := s.Chat.ListMessages(s.AsService(t).Context(), &platformv1.ListMessagesRequest{ChannelId: servertest.Owner.String()})
		if err != nil || len(page.GetMessages()) != 1 {
			t.Errorf("the platform sees %v (%v)", page, err)
		}
		log := s.REST(t, moderator, "GET", "/v1/moderation/log?type=channel.chat.clear&channelId="+servertest.Owner.String(), "")
		if entries, _ := data(t, log)["rows"].([]any); len(entries) != 2 {
			t.Errorf("the log has %s", log.Body)
		}
		advance(t, s.Store)
		if viewer, raider := rows(t, s.Store, servertest.Viewer), rows(t, s.Store, servertest.Raider); viewer != 0 || raider != 1 {
			t.Errorf("%d and %d rows are left, want 0 and 1", viewer, raider)
		}
	})
}

// TestClearChatHidesMessagesBeingPosted stores a message whose sender's standing was read
// before the clearing. It stays hidden, also after the next clearing and a ban.
func TestClearChatHidesMessagesBeingPosted(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		standing, err := chat.ReadStanding(context.Background(), s.Store, servertest.Owner, servertest.Raider)
		if err != nil {
			t.Fatal(err)
		}
		clearChat(t, s, s.As(t, servertest.Owner))
		m := chat.Message{ID: uid.New(), ChannelID: servertest.Owner, UserID: servertest.Raider, Text: "late", SentAt: standing.Now}
		if _, err := chat.Post(asBackend(t, s.Store), s.Store, standing, m, new(chat.Message)); err != nil {
			t.Fatal(err)
		}
		visible, err := chat.Visible(context.Background(), s.Store, []uid.ID{m.ID})
		if got := listed(t, s, ""); len(got) != 0 || len(visible) != 0 || err != nil {
			t.Errorf("visible: %q, %v (%v)", got, visible, err)
		}
		advance(t, s.Store)
		if got := rows(t, s.Store, servertest.Raider); got != 0 {
			t.Errorf("%d rows are left", got)
		}
	})
}

// TestMessagesOfAUserArePaged lists the messages of one user among those of others.
func TestMessagesOfAUserArePaged(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		fill(t, s.Store, servertest.Viewer, 0, 25)
		fill(t, s.Store, servertest.Raider, 100, 25)
		var got []any
		cursor := ""
		for {
			r := s.REST(t, s.As(t, servertest.Owner), http.MethodGet, fmt.Sprintf("/v1/chats/messages?channelId=%s&userId=%s&limit=10&cursor=%s",
				servertest.Owner, servertest.Viewer, cursor), "")
			page := data(t, r)
			got = append(got, page["messages"].([]any)...)
			if cursor = page["pagination"].(map[string]any)["cursor"].(string); cursor == "" {
				break
			}
			want(t, "the cursor without the filter", s.REST(t, s.As(t, servertest.Owner), http.MethodGet,
				fmt.Sprintf("/v1/chats/messages?channelId=%s&cursor=%s", servertest.Owner, cursor), ""), 400, "CURSOR_INVALID")
		}
		if len(got) != 25 || got[0].(map[string]any)["message"] != "message 24" || got[24].(map[string]any)["message"] != "message 0" {
			t.Errorf("got %v", got)
		}
	})
}

// TestMessagesWithoutVisibleCharactersAreRefused posts texts that show nothing, over each transport.
func TestMessagesWithoutVisibleCharactersAreRefused(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		backend := s.AsService(t)
		for what, text := range map[string]string{
			"a zero-width space": "\u200b", "a blank letter": "\u3164", "marks without a letter": "\u0301\u0336", "a tatweel": "ـ",
			"a note without a head": "\U0001d159", "the blank of a hieroglyph": "\U00013441", "tags": "\U000e0041",
		} {
			r := s.REST(t, backend, http.MethodPost, "/v1/chats/messages", fmt.Sprintf(`{"channelId":%q,"senderId":%q,"message":"%s"}`, servertest.Owner, servertest.Viewer, text))
			if r.Status != http.StatusBadRequest || !strings.Contains(r.Body, "must have a visible character") {
				t.Errorf("%s: got %d %s", what, r.Status, r.Body)
			}
			_, err := s.Chat.PostMessage(backend.Context(), &platformv1.PostMessageRequest{
				ChannelId: servertest.Owner.String(), UserId: servertest.Viewer.String(), Text: text,
			})
			if status.Code(err) != codes.InvalidArgument {
				t.Errorf("%s over gRPC: %v", what, err)
			}
		}
		if ids := listed(t, s, ""); len(ids) > 0 {
			t.Errorf("stored: %v", ids)
		}
	})
}
