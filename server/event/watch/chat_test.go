package watch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/test/servertest"
)

const chatMessage = "channel.chat.message"

// say posts a message as a user and returns its id.
func say(t *testing.T, s *servertest.Server, c servertest.Credentials, text string) string {
	t.Helper()
	r := s.REST(t, c, http.MethodPost, "/v1/chats/messages", fmt.Sprintf(`{"channelId":%q,"message":%q}`, servertest.Owner, text))
	var body struct{ Data struct{ MessageID string } }
	if err := json.Unmarshal([]byte(r.Body), &body); err != nil || r.Status != http.StatusOK {
		t.Errorf("post: %d %s", r.Status, r.Body)
	}
	return body.Data.MessageID
}

func payload(m message) map[string]any {
	p, _ := m.event["payload"].(map[string]any)
	return p
}

// nextChat returns the next event of a listener that is not the follow of the test.
func nextChat(t *testing.T, w watcher) message {
	t.Helper()
	for {
		if got := w.next(t); got.kind() != "channel.follow" {
			return got
		}
	}
}

// TestChatReachesListeners posts over both ChatServices: the event has the message and
// what the sender is in the channel, and neither a sequence nor a cursor.
func TestChatReachesListeners(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(t *testing.T, s *servertest.Server, watch transport) {
		ctx := s.AsService(t).Context()
		if _, err := s.Audience.Follow(ctx, &platformv1.FollowRequest{
			ChannelId: servertest.Owner.String(), UserId: servertest.Moderator.String(),
		}); err != nil {
			t.Fatal(err)
		}
		listeners := map[string]watcher{
			"named":   watch(t, s, s.As(t, servertest.Owner), &moderatov1.WatchEventsRequest{ChannelId: servertest.Owner.String(), Type: []string{chatMessage}}),
			"unnamed": watch(t, s, s.As(t, servertest.Moderator), &moderatov1.WatchEventsRequest{Type: []string{chatMessage}}),
			"backend": watch(t, s, s.AsService(t), &moderatov1.WatchEventsRequest{}),
		}
		elsewhere := watch(t, s, s.As(t, servertest.Other), &moderatov1.WatchEventsRequest{ChannelId: servertest.Other.String()})
		first := say(t, s, s.As(t, servertest.Moderator), "hello <b>")
		posted, err := s.Chat.PostMessage(ctx, &platformv1.PostMessageRequest{
			ChannelId: servertest.Owner.String(), UserId: servertest.Owner.String(), Text: "hi",
		})
		if err != nil {
			t.Fatal(err)
		}
		// A repeated post has no second event.
		if _, err := s.Chat.PostMessage(ctx, &platformv1.PostMessageRequest{
			ChannelId: servertest.Owner.String(), UserId: servertest.Owner.String(), Text: "hi", MessageId: posted.GetMessage().GetId(),
		}); err != nil {
			t.Fatal(err)
		}
		end := say(t, s, s.As(t, servertest.Owner), "the end")
		for name, w := range listeners {
			got := nextChat(t, w)
			p := payload(got)
			at, _ := p["createdAt"].(string)
			want := map[string]any{
				"metadata": map[string]any{
					"messageId": first, "messageType": "notification", "subscriptionType": chatMessage, "subscriptionVersion": "1",
					"messageTimestamp": at, "channelId": servertest.Owner.String(),
				},
				"payload": map[string]any{
					"channelId": servertest.Owner.String(), "messageId": first, "message": "hello <b>", "createdAt": at, "replyToMessageId": nil, "emotes": []any{},
					"sender": map[string]any{
						"id": servertest.Moderator.String(), "username": "tomasz_wrona", "displayName": "Tomasz Wrona",
						"avatarUrl": "https://img.example.com/tomasz_wrona.png",
						"isOwner":   false, "isModerator": true, "isVip": false, "isOg": false, "isSubscriber": false, "isFollower": true,
						"roles": []any{"moderator"}, "isBot": false,
					},
				},
			}
			if diff := cmp.Diff(want, got.event); diff != "" || got.cursor != "" || len(at) != len("2006-01-02T15:04:05.000Z") {
				t.Errorf("%s: cursor %q (-want +got):\n%s", name, got.cursor, diff)
			}
			if got := payload(nextChat(t, w)); got["messageId"] != posted.GetMessage().GetId() || got["sender"].(map[string]any)["isOwner"] != true {
				t.Errorf("%s: heard %v then", name, got)
			}
			if got := payload(nextChat(t, w)); got["messageId"] != end {
				t.Errorf("%s: heard %v at the end", name, got)
			}
		}
		select {
		case m := <-elsewhere.messages:
			t.Errorf("a listener of another channel heard %v", m)
		default:
		}
	})
}

// TestMessagesHaveTheirEmotes posts texts with the places of emotes, in the event and in the
// list: of the platform, of the channel, and of another channel.
func TestMessagesHaveTheirEmotes(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		const of, own, platform, public, private = "0b6feeee-0000-4000-8000-0000000000", "e1", "e2", "e3", "e4"
		var records []*platformv1.Record
		for id, e := range map[string]*platformv1.EmoteRecord{
			own:      {ChannelId: servertest.Owner.String()},
			platform: {},
			public:   {ChannelId: servertest.Other.String(), IsPublic: true},
			private:  {ChannelId: servertest.Other.String()},
		} {
			e.Id, e.Name, e.ImageUrl = of+id, "emote "+id, "https://img.example.com/"+id+".png"
			records = append(records, &platformv1.Record{Kind: &platformv1.Record_Emote{Emote: e}})
		}
		s.Load(t, records...)
		place := func(id string) string { return "[emote:" + of + id + "]" }
		owner := s.As(t, servertest.Owner)
		w := watchSSE(t, s, owner, &moderatov1.WatchEventsRequest{Type: []string{chatMessage}})
		texts := []struct {
			text string
			want []string
		}{
			{"hello", nil},
			{place(public) + place(own) + " and " + place(platform) + place(own), []string{public, own, platform}},
			{place(private) + place("99") + "[emote:e1] [emote:" + strings.Repeat("-", 36) + "]", nil},
			{"so " + strings.ToUpper(of+own) + " [emote:" + strings.ToUpper(of+own) + "]", []string{own}},
		}
		want := map[string][]any{}
		for _, test := range texts {
			shown := []any{}
			for _, id := range test.want {
				shown = append(shown, map[string]any{"id": of + id, "name": "emote " + id, "imageUrl": "https://img.example.com/" + id + ".png"})
			}
			want[test.text] = shown
			say(t, s, owner, test.text)
			if diff := cmp.Diff(map[string]any{"message": test.text, "emotes": shown}, shownIn(payload(w.next(t)))); diff != "" {
				t.Errorf("the event (-want +got):\n%s", diff)
			}
		}
		r := s.REST(t, owner, http.MethodGet, "/v1/chats/messages?channelId="+servertest.Owner.String(), "")
		var list struct {
			Data struct{ Messages []map[string]any }
		}
		if err := json.Unmarshal([]byte(r.Body), &list); err != nil || len(list.Data.Messages) != len(texts) {
			t.Fatalf("the list: %d %s", r.Status, r.Body)
		}
		for _, m := range list.Data.Messages {
			text, _ := m["message"].(string)
			if diff := cmp.Diff(map[string]any{"message": text, "emotes": want[text]}, shownIn(m)); diff != "" {
				t.Errorf("the list (-want +got):\n%s", diff)
			}
		}
	})
}

// shownIn returns the text and the emotes of a message.
func shownIn(m map[string]any) map[string]any {
	return map[string]any{"message": m["message"], "emotes": m["emotes"]}
}

// TestChatIsNotKept checks that live events are not stored, and not in the log.
func TestChatIsNotKept(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		owner := s.As(t, servertest.Owner)
		w := watchSSE(t, s, owner, &moderatov1.WatchEventsRequest{})
		say(t, s, owner, "gone with the wind")
		w.next(t)
		if n, err := s.Store.Read.Event.Query().Count(context.Background()); err != nil || n != 0 {
			t.Errorf("%d events are stored (%v), want none", n, err)
		}
		target := "/v1/moderation/log?type=" + chatMessage + "&channelId=" + servertest.Owner.String()
		if r := s.REST(t, owner, http.MethodGet, target, ""); r.Status != http.StatusBadRequest {
			t.Errorf("the log: got %d %s, want 400", r.Status, r.Body)
		}
	})
}

// TestASlowListenerLosesChatFirst has a listener take nothing while more is posted than a
// listener may have waiting. It is told how many messages it lost, and loses no other
// event.
func TestASlowListenerLosesChatFirst(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		stream := listenChat(t, s)
		messages := stream.sent
		<-messages // the first one says that it listens
		<-stream.waits
		by := s.As(t, servertest.Owner)
		say(t, s, by, "first")
		<-stream.waits // the stream has it, and waits
		for i := range 3 {
			say(t, s, by, fmt.Sprintf("lost %d", i))
		}
		retitle(t, s, "kept")
		time.Sleep(2300 * time.Millisecond) // longer than chat waits for a listener
		say(t, s, by, "last")
		var missed int64
		var kinds []string
		for late := time.After(patience); ; {
			var m *moderatov1.WatchEventsResponse
			select {
			case m = <-messages:
			case <-late:
				t.Fatalf("heard only %q, and missed %d", kinds, missed)
			}
			missed += m.GetMissedMessages()
			if e := m.GetEvent(); e != nil {
				kinds = append(kinds, e.GetMetadata().GetSubscriptionType()+" "+e.GetChatMessage().GetMessage())
			}
			if m.GetEvent().GetChatMessage().GetMessage() == "last" {
				break
			}
		}
		want := []string{chatMessage + " first", "channel.update ", chatMessage + " last"}
		if !slices.Equal(kinds, want) || missed != 3 {
			t.Errorf("heard %q and missed %d, want %q and 3", kinds, missed, want)
		}
	})
}

// TestAMessageThatWaitsIsNotSentAfterItsDeletion deletes a message while a listener that
// takes nothing has it waiting.
func TestAMessageThatWaitsIsNotSentAfterItsDeletion(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		stream := listenChat(t, s)
		messages := stream.sent
		<-messages // the first one says that it listens
		<-stream.waits
		by := s.As(t, servertest.Owner)
		say(t, s, by, "first")
		<-stream.waits // the stream has it, and waits
		say(t, s, s.As(t, servertest.Raider), "deleted")
		time.Sleep(200 * time.Millisecond)
		ban(t, s, servertest.Owner, servertest.Raider)
		time.Sleep(200 * time.Millisecond) // the server knows the event
		say(t, s, by, "last")
		var kinds []string
		for late := time.After(patience); len(kinds) < 4; {
			select {
			case m := <-messages:
				if e := m.GetEvent(); e != nil {
					kinds = append(kinds, e.GetMetadata().GetSubscriptionType()+" "+e.GetChatMessage().GetMessage())
				}
			case <-late:
				t.Fatalf("heard only %q", kinds)
			}
		}
		want := []string{chatMessage + " first", "channel.ban ", "channel.chat.clear_user_messages ", chatMessage + " last"}
		if !slices.Equal(kinds, want) {
			t.Errorf("heard %q, want %q", kinds, want)
		}
	})
}
