package chat_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

func listAs(t *testing.T, s *servertest.Server, c servertest.Credentials, query string) servertest.Response {
	t.Helper()
	return s.REST(t, c, http.MethodGet, "/v1/chats/messages?channelId="+servertest.Owner.String()+query, "")
}

// texts returns the texts of a page of messages, and its cursor.
func texts(t *testing.T, r servertest.Response) (texts []string, cursor string) {
	t.Helper()
	page := data(t, r)
	messages, ok := page["messages"].([]any)
	if !ok {
		t.Fatalf("list: %d %s", r.Status, r.Body)
	}
	for _, m := range messages {
		texts = append(texts, m.(map[string]any)["message"].(string))
	}
	return texts, page["pagination"].(map[string]any)["cursor"].(string)
}

// app returns an app token with some scopes.
func app(t *testing.T, s *servertest.Server, scopes ...string) servertest.Credentials {
	t.Helper()
	return s.Token(t, authn.NewToken{Kind: authn.App, ClientID: servertest.Dashboard, Scopes: scopes})
}

// TestWhoSeesWhichMessages lists messages of ten days, as each caller, while the channel is
// offline and live.
func TestWhoSeesWhichMessages(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		present := now(t, s.Store)
		s.Store.Clock.Freeze(present)
		for i, ago := range []time.Duration{240 * time.Hour, 8*time.Hour + time.Millisecond, 8 * time.Hour, time.Hour} {
			servertest.Import(t, s.Store, record(i, servertest.Viewer, present.Add(-ago)))
		}
		all, public := []string{"message 3", "message 2", "message 1", "message 0"}, []string{"message 3", "message 2"}
		acting := s.AsService(t)
		acting.ActingUser = servertest.Viewer
		callers := map[string]struct {
			by   servertest.Credentials
			all  bool
			code string // with userId
		}{
			"a viewer":                    {scoped(t, s, servertest.Raider, authn.UsersRead), false, "SCOPE_MISSING"},
			"a viewer with both scopes":   {scoped(t, s, servertest.Raider, authn.UsersRead, authn.ChannelModerate), false, "NOT_CHANNEL_MODERATOR"},
			"a viewer that may moderate":  {scoped(t, s, servertest.Raider, authn.ChannelModerate), false, "NOT_CHANNEL_MODERATOR"},
			"an app":                      {app(t, s, authn.UsersRead), false, "SCOPE_MISSING"},
			"an app that may moderate":    {app(t, s, authn.ChannelModerate), false, "NOT_CHANNEL_MODERATOR"},
			"a moderator without a right": {scoped(t, s, servertest.Moderator, authn.UsersRead), false, "SCOPE_MISSING"},
			"a moderator":                 {scoped(t, s, servertest.Moderator, authn.ChannelModerate), true, ""},
			"the owner":                   {scoped(t, s, servertest.Owner, authn.UsersRead, authn.ChannelModerate), true, ""},
			"a backend":                   {s.AsService(t), true, ""},
			"a backend for a viewer":      {acting, false, "NOT_CHANNEL_MODERATOR"},
		}
		check := func(when string, public []string) {
			for who, c := range callers {
				wanted := public
				if c.all {
					wanted = all
				}
				if got, cursor := texts(t, listAs(t, s, c.by, "")); !slices.Equal(got, wanted) || cursor != "" {
					t.Errorf("%s, %s: got %q and the cursor %q, want %q", when, who, got, cursor, wanted)
				}
				r := listAs(t, s, c.by, "&userId="+servertest.Viewer.String())
				if code, _ := data(t, r)["code"].(string); code != c.code {
					t.Errorf("%s, %s, userId: got %d %s, want %q", when, who, r.Status, r.Body, c.code)
				}
			}
		}
		check("offline", public)
		want(t, "another scope", listAs(t, s, scoped(t, s, servertest.Raider, authn.UsersBot), ""), 403, "SCOPE_MISSING")
		want(t, "an unknown channel", s.REST(t, callers["a viewer"].by, http.MethodGet, "/v1/chats/messages?channelId="+servertest.Nobody.String(), ""), 400, "CHANNEL_NOT_FOUND")

		start := func(at instant.Instant) {
			_, err := s.Streams.StartStream(s.AsService(t).Context(), &platformv1.StartStreamRequest{
				ChannelId: servertest.Owner.String(), Title: "x", StartedAt: timestamppb.New(at.Time()),
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		start(present.Add(-9 * time.Hour))
		check("live for nine hours", all[:3])
		start(present.Add(-time.Hour))
		check("live for an hour", all[:1])

		// A moderator's cursor shows a viewer nothing that is older.
		_, cursor := texts(t, listAs(t, s, callers["a moderator"].by, "&limit=1"))
		if got, next := texts(t, listAs(t, s, callers["a viewer"].by, "&cursor="+cursor)); len(got) != 0 || next != "" {
			t.Errorf("a viewer with a moderator's cursor: got %q and %q", got, next)
		}
	})
}

// TestMessagesAsClientsReadThem posts replies as programs and as people, and lists them.
func TestMessagesAsClientsReadThem(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		backend := s.AsService(t)
		ctx := backend.Context()
		for _, err := range []error{
			second(s.Access.PutGrant(ctx, &platformv1.PutGrantRequest{Grant: &platformv1.GrantRecord{
				ClientId: servertest.Dashboard, UserId: servertest.Viewer.String(), Scopes: []string{authn.UsersBot},
			}})),
			second(s.Audience.Follow(ctx, &platformv1.FollowRequest{ChannelId: servertest.Owner.String(), UserId: servertest.Viewer.String()})),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, role := range []string{"vips", "ogs"} {
			r := s.REST(t, s.As(t, servertest.Owner), "POST", "/v1/channels/"+role, fmt.Sprintf(`{"channelId":%q,"userId":%q}`, servertest.Owner, servertest.Viewer))
			if r.Status != http.StatusOK {
				t.Fatal(r.Body)
			}
		}
		id := func(r servertest.Response) string {
			id, _ := data(t, r)["messageId"].(string)
			if id == "" {
				t.Errorf("post: %d %s", r.Status, r.Body)
			}
			return id
		}
		first := id(post(t, s, s.As(t, servertest.Moderator), ""))
		byApp := id(post(t, s, s.AsApp(t), fmt.Sprintf(`,"senderId":%q,"replyToMessageId":%q`, servertest.Viewer, first)))
		byBackend := id(post(t, s, backend, fmt.Sprintf(`,"senderId":%q,"isBot":true`, servertest.Owner)))
		posted, err := s.Chat.PostMessage(ctx, &platformv1.PostMessageRequest{
			ChannelId: servertest.Owner.String(), UserId: servertest.Moderator.String(), Text: "hello", ReplyToMessageId: first, IsBot: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		imported := record(7, servertest.Raider, now(t, s.Store).Add(-time.Hour))
		imported.GetMessage().ReplyToMessageId, imported.GetMessage().IsBot = servertest.Nobody.String(), true
		servertest.Import(t, s.Store, imported)
		// A reply outlives the message that it replies to.
		remove(t, s, s.As(t, servertest.Moderator), first)

		person := func(id uid.ID, username, displayName string, more map[string]any) map[string]any {
			p := map[string]any{
				"id": id.String(), "username": username, "displayName": displayName, "avatarUrl": "https://img.example.com/" + username + ".png",
				"isOwner": false, "isModerator": false, "isVip": false, "isOg": false, "isSubscriber": false, "isFollower": false,
				"roles": []any{}, "isBot": true,
			}
			for name, value := range more {
				p[name] = value
			}
			return p
		}
		message := func(id, text string, replyTo any, sender map[string]any) map[string]any {
			return map[string]any{"id": id, "channelId": servertest.Owner.String(), "sender": sender, "message": text, "replyToMessageId": replyTo, "emotes": []any{}}
		}
		wanted := []any{
			message(posted.GetMessage().GetId(), "hello", first, person(servertest.Moderator, "tomasz_wrona", "Tomasz Wrona", map[string]any{"isModerator": true, "roles": []any{"moderator"}})),
			message(byBackend, "hello", nil, person(servertest.Owner, "Ines", "Inês Carvalho", map[string]any{"isOwner": true})),
			message(byApp, "hello", first, person(servertest.Viewer, "amara.okafor", "Amara Okafor", map[string]any{"isVip": true, "isOg": true, "isFollower": true, "roles": []any{"vip", "og"}})),
			message(imported.GetMessage().GetId(), "message 7", servertest.Nobody.String(), person(servertest.Raider, "LootGoblin77", `Loot "Goblin" 77`, nil)),
		}
		for _, query := range []string{"", "&userId=" + servertest.Raider.String()} {
			got := data(t, listAs(t, s, s.As(t, servertest.Owner), query))
			messages := got["messages"].([]any)
			for _, m := range messages {
				if at, _ := m.(map[string]any)["createdAt"].(string); len(at) != len("2006-01-02T15:04:05.000Z") {
					t.Errorf("createdAt is %q", at)
				}
				delete(m.(map[string]any), "createdAt")
			}
			if query != "" {
				wanted = wanted[3:]
			}
			if diff := cmp.Diff(map[string]any{"channelId": servertest.Owner.String(), "messages": wanted, "pagination": map[string]any{"cursor": ""}}, got); diff != "" {
				t.Errorf("%q (-want +got):\n%s", query, diff)
			}
		}
		page, err := s.Chat.ListMessages(ctx, &platformv1.ListMessagesRequest{ChannelId: servertest.Owner.String()})
		if err != nil || len(page.GetMessages()) != 4 {
			t.Fatalf("the platform lists %v (%v)", page, err)
		}
		for i, replyTo := range []string{first, "", first, servertest.Nobody.String()} {
			if m := page.GetMessages()[i]; m.GetReplyToMessageId() != replyTo || !m.GetIsBot() {
				t.Errorf("the platform lists %v, want a reply to %q by a program", m, replyTo)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

// TestRefusedReplies replies to messages that are not there, and claims with a user token to
// be a program.
func TestRefusedReplies(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		viewer := s.As(t, servertest.Viewer)
		elsewhere, err := s.Chat.PostMessage(s.AsService(t).Context(), &platformv1.PostMessageRequest{
			ChannelId: servertest.Other.String(), UserId: servertest.Viewer.String(), Text: "x",
		})
		if err != nil {
			t.Fatal(err)
		}
		deleted := data(t, post(t, s, viewer, ""))["messageId"]
		remove(t, s, viewer, deleted)
		for what, c := range map[string]struct{ more, field string }{
			"an unknown message":           {fmt.Sprintf(`,"replyToMessageId":%q`, servertest.Nobody), "replyToMessageId"},
			"a message of another channel": {fmt.Sprintf(`,"replyToMessageId":%q`, elsewhere.GetMessage().GetId()), "replyToMessageId"},
			"a deleted message":            {fmt.Sprintf(`,"replyToMessageId":%q`, deleted), "replyToMessageId"},
			"no UUID":                      {`,"replyToMessageId":"x"`, "replyToMessageId"},
			"a user that is no program":    {`,"isBot":true`, "isBot"},
		} {
			r := post(t, s, viewer, c.more)
			want(t, what, r, 400, "INVALID_ARGUMENT")
			if violations, _ := data(t, r)["violations"].([]any); len(violations) != 1 || violations[0].(map[string]any)["field"] != c.field {
				t.Errorf("%s: got %s, want the field %s", what, r.Body, c.field)
			}
		}
		if n, err := s.Store.Read.Message.Query().Count(context.Background()); n != 2 || err != nil {
			t.Errorf("%d messages are stored (%v), want 2", n, err)
		}
	})
}

// TestPageCostsThreeStatements counts the statements of a page with many senders: for the
// channel, the messages and the senders.
func TestPageCostsThreeStatements(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s, recorded := storetest.OpenRecorded(t, url)
		servertest.Import(t, s, servertest.World()...)
		for i, sender := range []uid.ID{servertest.Owner, servertest.Moderator, servertest.Viewer, servertest.Raider, servertest.Other} {
			fill(t, s, sender, 10*i, 3)
		}
		ctx := authn.NewContext(t.Context(), authn.NewCaller(authn.User, servertest.Viewer, authn.UsersRead))
		before := len(recorded.Sent())
		page, err := (&chat.PublicService{Store: s}).ListMessages(ctx, &moderatov1.ListMessagesRequest{ChannelId: servertest.Owner.String()})
		if err != nil || len(page.GetMessages()) != 15 {
			t.Fatalf("got %v (%v), want 15 messages", page, err)
		}
		if sent := recorded.Sent()[before:]; len(sent) != 3 {
			t.Errorf("got %d statements, want 3: %v", len(sent), sent)
		}
	})
}
