package chat_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
)

func TestChatRequiresServiceToken(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		service := chatMD(s.AsService(t))
		with := func(name string, values ...string) metadata.MD {
			md := service.Copy()
			if md.Delete(name); len(values) > 0 {
				md.Set(name, values...)
			}
			return md
		}
		token := strings.TrimPrefix(service.Get("authorization")[0], "Bearer ")
		old := s.Token(t, authn.NewToken{Kind: authn.Service, ClientID: servertest.ChatServer, Lifetime: time.Hour})
		revoked := s.AsService(t)
		if _, err := authn.Revoke(context.Background(), s.Store, revoked.Token, nil); err != nil {
			t.Fatal(err)
		}
		s.Store.Clock.Advance(time.Hour)
		forOwner := s.As(t, servertest.Owner)
		claiming := forOwner
		claiming.ActingUser = servertest.Owner
		for _, c := range []struct {
			name   string
			caller metadata.MD
			want   chatRefusal
		}{
			{"no token", with("authorization"), chatNoToken},
			{"another scheme", with("authorization", "Basic "+token), chatNoToken},
			{"two tokens", with("authorization", "Bearer "+token, "Bearer "+token), chatNoToken},
			{"a damaged token", with("authorization", "Bearer "+token[:len(token)-1]+"-"), chatBadToken},
			{"a revoked token", chatMD(revoked), chatBadToken},
			{"an expired token", chatMD(old), chatOldToken},
			{"no client-id", with("client-id"), chatNoClient},
			{"another client-id", with("client-id", servertest.Dashboard), chatOtherClient},
			{"the owner's token", chatMD(forOwner), chatWrongKind},
			{"a moderator's token", chatMD(s.As(t, servertest.Moderator)), chatWrongKind},
			{"user with acting-user owner", chatMD(claiming), chatWrongKind},
			{"an app's token", chatMD(s.AsApp(t)), chatWrongKind},
			{"a bad acting-user", with("acting-user", "ines"), chatInvalid([2]string{"acting-user", chatNotUUID})},
		} {
			t.Run(c.name, func(t *testing.T) {
				for _, request := range chatRequests() {
					c.want.check(t, s, c.caller, request)
				}
				// An unauthorized caller must not learn what else is wrong.
				c.want.check(t, s, c.caller, &platformv1.PostMessageRequest{})
				c.want.check(t, s, c.caller, &platformv1.ListMessagesRequest{Limit: proto.Int32(0)})
				c.want.check(t, s, c.caller, &platformv1.GetStandingRequest{ChannelId: "x"})
			})
		}
		if got := chatStored(t, s); len(got) != 0 {
			t.Errorf("refused posts stored %q", got)
		}
		acting := s.AsService(t)
		acting.ActingUser = servertest.Raider
		if _, err := s.Chat.PostMessage(acting.Context(), chatPost()); err != nil {
			t.Errorf("a backend that acts for a user: %v", err)
		}
	})
}

func TestChatReportsAllInvalidArguments(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		service := chatMD(s.AsService(t))
		owner, raider := servertest.Owner.String(), servertest.Raider.String()
		post := func(change func(*platformv1.PostMessageRequest)) proto.Message {
			r := chatPost()
			change(r)
			return r
		}
		text := func(text string) proto.Message {
			return post(func(r *platformv1.PostMessageRequest) { r.Text = text })
		}
		list := func(limit int32) proto.Message {
			return &platformv1.ListMessagesRequest{ChannelId: owner, Limit: proto.Int32(limit)}
		}
		noControls := chatInvalid([2]string{"text", "must not contain control characters"})
		noText, badLimit := chatInvalid([2]string{"text", "is required"}), chatInvalid([2]string{"limit", "must be between 1 and 100"})
		tooLong := chatInvalid([2]string{"text", "must be 1 to 500 characters"})
		channel, user, id := [2]string{"channelId", chatNotUUID}, [2]string{"userId", chatNotUUID}, [2]string{"messageId", chatNotUUID}
		noChannel, noUser := [2]string{"channelId", "is required"}, [2]string{"userId", "is required"}
		cases := []chatCase{
			{"an empty post", &platformv1.PostMessageRequest{}, chatInvalid(noChannel, noUser, [2]string{"text", "is required"})},
			{"post with only invalid fields", &platformv1.PostMessageRequest{ChannelId: "x", UserId: "y", Text: "a\x00", MessageId: "z"},
				chatInvalid(channel, user, [2]string{"text", "must not contain control characters"}, id)},
			{"no text", text(""), noText},
			{"spaces only", text(" \t\n　 "), noText},
			{"501 characters", text(strings.Repeat("a", 501)), tooLong},
			{"501 characters of several bytes", text(strings.Repeat("ü", 501)), tooLong},
			{"501 characters after normalisation", text("e" + strings.Repeat("ö", 500)), tooLong},
			{"a zero byte", text("a\x00b"), noControls},
			{"an escape", text("a\x1b[2Jb"), noControls},
			{"a carriage return", text("a\r\nb"), noControls},
			{"a delete", text("a\x7fb"), noControls},
			{"a C1 control", text("a\u0085b"), noControls},
			{"list without arguments", &platformv1.ListMessagesRequest{}, chatInvalid(noChannel)},
			{"limit 0", list(0), badLimit},
			{"limit 101", list(101), badLimit},
			{"limit -1", list(-1), badLimit},
			{"minimum int32 limit", list(-1 << 31), badLimit},
			{"bad channel and bad limit", &platformv1.ListMessagesRequest{ChannelId: "x", Limit: proto.Int32(0), Cursor: "x"},
				chatInvalid(channel, [2]string{"limit", "must be between 1 and 100"})},
			{"no standing", &platformv1.GetStandingRequest{}, chatInvalid(noChannel, noUser)},
			{"bad channel and user of a standing", &platformv1.GetStandingRequest{ChannelId: "x", UserId: "y"}, chatInvalid(channel, user)},
		}
		for spelling, bad := range map[string]string{
			"35 characters": owner[:35], "37 characters": owner + "0", "braces": "{" + owner + "}", "a URN": "urn:uuid:" + owner,
			"no hyphens": strings.ReplaceAll(owner, "-", ""), "no hexadecimal": owner[:35] + "g",
			"the nil UUID": "00000000-0000-0000-0000-000000000000",
		} {
			cases = append(cases,
				chatCase{"PostMessage/channelId/" + spelling, post(func(r *platformv1.PostMessageRequest) { r.ChannelId = bad }), chatInvalid(channel)},
				chatCase{"PostMessage/userId/" + spelling, post(func(r *platformv1.PostMessageRequest) { r.UserId = bad }), chatInvalid(user)},
				chatCase{"PostMessage/messageId/" + spelling, post(func(r *platformv1.PostMessageRequest) { r.MessageId = bad }), chatInvalid(id)},
				chatCase{"ListMessages/channelId/" + spelling, &platformv1.ListMessagesRequest{ChannelId: bad}, chatInvalid(channel)},
				chatCase{"GetStanding/channelId/" + spelling, &platformv1.GetStandingRequest{ChannelId: bad, UserId: raider}, chatInvalid(channel)},
				chatCase{"GetStanding/userId/" + spelling, &platformv1.GetStandingRequest{ChannelId: owner, UserId: bad}, chatInvalid(user)})
		}
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) { c.want.check(t, s, service, c.request) })
		}
		if got := chatStored(t, s); len(got) != 0 {
			t.Errorf("refused posts stored %q", got)
		}
	})
}

func TestChatAcceptsTextsUpToLimit(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ctx := s.AsService(t).Context()
		for name, c := range map[string][2]string{
			"500 characters of several bytes":          {strings.Repeat("𝄞", 500), strings.Repeat("𝄞", 500)},
			"500 characters after normalisation":       {strings.Repeat("u\u0308", 500), strings.Repeat("ü", 500)},
			"500 characters after trimming":            {"  " + strings.Repeat("a", 500) + "\n", strings.Repeat("a", 500)},
			"tabs and line feeds inside":               {"a\tb\nc", "a\tb\nc"},
			"quotes, markup and a statement":           {`'"; DROP TABLE messages; -- <script>\`, `'"; DROP TABLE messages; -- <script>\`},
			"one character":                            {"w", "w"},
			"a family of four joined to one character": {"👨‍👩‍👧‍👦", "👨‍👩‍👧‍👦"},
		} {
			request := chatPost()
			request.Text = c[0]
			response, err := s.Chat.PostMessage(ctx, request)
			if got := response.GetMessage().GetText(); err != nil || got != c[1] {
				t.Errorf("%s: got %q, %v, want %q", name, got, err, c[1])
			}
		}
		for _, limit := range []int32{1, 100} {
			_, err := s.Chat.ListMessages(ctx, &platformv1.ListMessagesRequest{ChannelId: servertest.Owner.String(), Limit: &limit})
			if err != nil {
				t.Errorf("limit %d: %v", limit, err)
			}
		}
	})
}

func TestChatRejectsInvalidCursors(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		credentials := s.AsService(t)
		owner, other := servertest.Owner.String(), servertest.Other.String()
		page := func(channel, cursor string) *platformv1.ListMessagesRequest {
			return &platformv1.ListMessagesRequest{ChannelId: channel, Cursor: cursor, Limit: proto.Int32(1)}
		}
		cursors := map[string]string{}
		for _, channel := range []string{owner, other} {
			for i := range 3 {
				request := chatPost()
				request.ChannelId, request.Text = channel, fmt.Sprint(i)
				if _, err := s.Chat.PostMessage(credentials.Context(), request); err != nil {
					t.Fatal(err)
				}
			}
			first, err := s.Chat.ListMessages(credentials.Context(), page(channel, ""))
			if err != nil || first.GetNextCursor() == "" {
				t.Fatalf("got %v, %v, want a page with a cursor", first, err)
			}
			cursors[channel] = first.GetNextCursor()
		}
		good := cursors[owner]
		if second, err := s.Chat.ListMessages(credentials.Context(), page(owner, good)); err != nil || len(second.GetMessages()) != 1 {
			t.Fatalf("a good cursor: got %v, %v, want one message", second, err)
		}
		bad := map[string]string{
			"of another channel": cursors[other], "not base64": "%%%", "a word": "cursor", "padded": good + "=", "doubled": good + good,
			"in upper case": strings.ToUpper(good), "with a space": good + " ", "with a line feed": good[:8] + "\n" + good[8:],
		}
		for i := range good {
			flipped := []byte(good)
			if flipped[i]++; good[i] == 'z' || good[i] == 'Z' || good[i] == '9' || good[i] == '_' || good[i] == '-' {
				flipped[i] = 'A'
			}
			bad[fmt.Sprintf("with character %d changed", i)] = string(flipped)
			if i > 0 {
				bad[fmt.Sprintf("cut to %d characters", i)] = good[:i]
			}
		}
		service := chatMD(credentials)
		for name, cursor := range bad {
			t.Run(name, func(t *testing.T) { chatBadCursor.check(t, s, service, page(owner, cursor)) })
		}
		// The form of the arguments is checked before what they refer to.
		chatBadCursor.check(t, s, service, page(servertest.Nobody.String(), "cursor"))
		chatBadCursor.check(t, s, service, page(servertest.Nobody.String(), good))
	})
}

func TestChatRejectsUnknownBannedAndMutedUsers(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		service, moderator := chatMD(s.AsService(t)), s.As(t, servertest.Moderator).Context()
		owner, viewer, raider := servertest.Owner.String(), servertest.Viewer.String(), servertest.Raider.String()
		nobody := servertest.Nobody.String()
		earlier, err := s.Chat.PostMessage(s.AsService(t).Context(), chatPost())
		if err != nil {
			t.Fatal(err)
		}
		now, err := s.Store.Clock.Now(context.Background(), s.Store.Read)
		if err != nil {
			t.Fatal(err)
		}
		s.Store.Clock.Freeze(now)
		defer s.Store.Clock.Freeze(0)
		_, err = s.Moderation.BanUser(moderator, &moderatov1.BanUserRequest{ChannelId: owner, BanUserId: raider})
		if err != nil {
			t.Fatal(err)
		}
		timed := servertest.AddUsers(t, s.Store, 1)[0].String()
		_, err = s.Moderation.BanUser(moderator, &moderatov1.BanUserRequest{ChannelId: owner, BanUserId: timed, DurationSeconds: new(int64(3600))})
		if err != nil {
			t.Fatal(err)
		}
		for _, user := range []string{viewer, raider} {
			_, err = s.Moderation.MuteUser(moderator, &moderatov1.MuteUserRequest{ChannelId: owner, MutedUserId: user})
			if err != nil {
				t.Fatal(err)
			}
		}
		s.Store.Clock.Freeze(now.Add(10*time.Minute - time.Millisecond))
		muted := chatRefusal{
			code: codes.FailedPrecondition, reason: "USER_MUTED", message: "The user is muted in this channel until muteExpiresAt.",
			metadata: map[string]string{"muteExpiresAt": now.Add(10 * time.Minute).String()}, retryAfter: time.Millisecond,
		}
		post := func(channel, user, text string) proto.Message {
			return &platformv1.PostMessageRequest{ChannelId: channel, UserId: user, Text: text}
		}
		repeated := chatPost()
		repeated.MessageId = earlier.GetMessage().GetId()
		for _, c := range []chatCase{
			{"a post in an unknown channel", post(nobody, viewer, "gg"), chatUnknownChannel},
			{"a post in a channel that does not exist", post(viewer, viewer, "gg"), chatUnknownChannel},
			{"a post in an unknown channel by an unknown user", post(nobody, nobody, "gg"), chatUnknownChannel},
			{"a post by an unknown user", post(owner, nobody, "gg"), chatUnknownUser},
			{"a post by a banned user", post(owner, raider, "gg"), chatBanned}, // the user is also muted
			{"a post by a user with a timed ban", post(owner, timed, "gg"), chatRefusal{
				code: codes.FailedPrecondition, reason: "USER_BANNED", message: "The user is banned from this channel until " + now.Add(time.Hour).String() + ".",
				metadata: map[string]string{"expiresAt": now.Add(time.Hour).String()}, retryAfter: 50*time.Minute + time.Millisecond,
			}},
			{"an earlier post that a banned user repeats", repeated, chatBanned},
			{"a post by a muted user", post(owner, viewer, "gg"), muted},
			{"no text by a banned user", post(owner, raider, ""), chatInvalid([2]string{"text", "is required"})},
			{"no text in an unknown channel", post(nobody, viewer, ""), chatInvalid([2]string{"text", "is required"})},
			{"messages of an unknown channel", &platformv1.ListMessagesRequest{ChannelId: nobody}, chatUnknownChannel},
			{"messages of a user without a channel", &platformv1.ListMessagesRequest{ChannelId: raider}, chatUnknownChannel},
			{"a standing in an unknown channel", &platformv1.GetStandingRequest{ChannelId: nobody, UserId: raider}, chatUnknownChannel},
			{"a standing of an unknown user", &platformv1.GetStandingRequest{ChannelId: owner, UserId: nobody}, chatUnknownUser},
			{"a standing where both are unknown", &platformv1.GetStandingRequest{ChannelId: nobody, UserId: nobody}, chatUnknownChannel},
		} {
			t.Run(c.name, func(t *testing.T) { c.want.check(t, s, service, c.request) })
		}
		if got := chatStored(t, s); len(got) > 1 { // the earlier message, until it is purged
			t.Errorf("refused posts stored %q", got)
		}
	})
}

func TestMessageIDIsUnique(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		credentials := s.AsService(t)
		post := func(channel, user uid.ID, text string) *platformv1.PostMessageRequest {
			return &platformv1.PostMessageRequest{
				ChannelId: channel.String(), UserId: user.String(), Text: text, MessageId: "0192F0C1-0000-7000-8000-00000000ABCD",
			}
		}
		first, err := s.Chat.PostMessage(credentials.Context(), post(servertest.Owner, servertest.Raider, "first"))
		if err != nil || first.GetMessage().GetId() != "0192f0c1-0000-7000-8000-00000000abcd" {
			t.Fatalf("got %v, %v, want the chosen id in lower case", first, err)
		}
		again, err := s.Chat.PostMessage(credentials.Context(), post(servertest.Owner, servertest.Raider, "second"))
		if err != nil || !proto.Equal(again, first) {
			t.Errorf("the same sender posts it again: got %v, %v, want %v", again, err, first)
		}
		taken := chatInvalid([2]string{"messageId", "belongs to another message"})
		taken.check(t, s, chatMD(credentials), post(servertest.Owner, servertest.Viewer, "first"))
		taken.check(t, s, chatMD(credentials), post(servertest.Other, servertest.Raider, "first"))
		if got := chatStored(t, s); !slices.Equal(got, []string{"first"}) {
			t.Errorf("got messages %q, want the first alone", got)
		}
	})
}

// A chat server that did not receive the response posts again, possibly through another
// connection while the first post is still in flight.
func TestConcurrentRepeatedPostIsStoredOnce(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ctx := s.AsService(t).Context()
		for range 20 {
			request := chatPost()
			request.MessageId = uid.New().String()
			var posts sync.WaitGroup
			responses, errs := make([]*platformv1.PostMessageResponse, 4), make([]error, 4)
			for i := range responses {
				posts.Go(func() { responses[i], errs[i] = s.Chat.PostMessage(ctx, request) })
			}
			posts.Wait()
			for i := range responses {
				if errs[i] != nil || !proto.Equal(responses[i], responses[0]) {
					t.Fatalf("got %v, %v, want %v", responses[i], errs[i], responses[0])
				}
			}
		}
	})
}
