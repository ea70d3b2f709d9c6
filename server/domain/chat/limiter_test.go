package chat_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// eachLimited runs a test on a server with the default rate, whose clock stands still.
func eachLimited(t *testing.T, test func(t *testing.T, s *servertest.Server)) {
	t.Helper()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		config := servertest.Config(url)
		config.ChatRate = chat.DefaultRate()
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		s.Store.Clock.Freeze(now(t, s.Store))
		test(t, s)
	})
}

func postIn(t *testing.T, s *servertest.Server, c servertest.Credentials, channel uid.ID, more string) servertest.Response {
	t.Helper()
	return s.REST(t, c, http.MethodPost, "/v1/chats/messages", fmt.Sprintf(`{"channelId":%q,"message":"x"%s}`, channel, more))
}

// wantPosts posts as often as a sender may, and then once more.
func wantPosts(t *testing.T, who string, n int, retryAfter string, post func() servertest.Response) {
	t.Helper()
	for i := range n {
		if r := post(); r.Status != http.StatusOK {
			t.Fatalf("%s: post %d of %d: %d %s", who, i+1, n, r.Status, r.Body)
		}
	}
	r := post()
	want(t, who+", once more", r, 429, "RATE_LIMITED")
	if !strings.Contains(r.Body, `"message":"Rate limit exceeded`) || r.Header.Get("Retry-After") != retryAfter {
		t.Errorf("%s: got Retry-After %q and %s, want %q", who, r.Header.Get("Retry-After"), r.Body, retryAfter)
	}
}

// TestSendersPostAtARate posts as each kind of sender, in two channels, until it is too much.
func TestSendersPostAtARate(t *testing.T) {
	eachLimited(t, func(t *testing.T, s *servertest.Server) {
		viewer := s.As(t, servertest.Viewer)
		in := func(c servertest.Credentials, channel uid.ID, more string) func() servertest.Response {
			return func() servertest.Response { return postIn(t, s, c, channel, more) }
		}
		wantPosts(t, "a viewer", 20, "2", in(viewer, servertest.Owner, ""))
		wantPosts(t, "a viewer elsewhere", 20, "2", in(viewer, servertest.Other, ""))
		wantPosts(t, "a moderator", 100, "1", in(s.As(t, servertest.Moderator), servertest.Owner, ""))
		wantPosts(t, "the owner, through a backend", 100, "1", in(s.AsService(t), servertest.Owner, fmt.Sprintf(`,"senderId":%q`, servertest.Owner)))
		for range 25 {
			if _, err := s.Chat.PostMessage(s.AsService(t).Context(), &platformv1.PostMessageRequest{
				ChannelId: servertest.Owner.String(), UserId: servertest.Viewer.String(), Text: "x",
			}); err != nil {
				t.Fatalf("the platform: %v", err)
			}
		}
		s.Store.Clock.Freeze(now(t, s.Store).Add(1499 * time.Millisecond))
		want(t, "before the time is over", postIn(t, s, viewer, servertest.Owner, ""), 429, "RATE_LIMITED")
		s.Store.Clock.Freeze(now(t, s.Store).Add(time.Millisecond))
		wantPosts(t, "after the time", 1, "2", in(viewer, servertest.Owner, ""))
	})
}

// TestRefusedPostsCount posts as a muted user, and repeats a message, until it is too much.
// What names bad arguments, or a sender for whom the caller may not post, does not count.
func TestRefusedPostsCount(t *testing.T) {
	eachLimited(t, func(t *testing.T, s *servertest.Server) {
		viewer, raider, moderator := s.As(t, servertest.Viewer), s.As(t, servertest.Raider), s.As(t, servertest.Moderator)
		r := s.REST(t, moderator, "POST", "/v1/moderation/mute", fmt.Sprintf(`{"channelId":%q,"mutedUserId":%q}`, servertest.Owner, servertest.Raider))
		if r.Status != http.StatusOK {
			t.Fatal(r.Body)
		}
		for range 20 {
			want(t, "muted", postIn(t, s, raider, servertest.Owner, ""), 403, "USER_MUTED")
		}
		want(t, "muted, once more", postIn(t, s, raider, servertest.Owner, ""), 429, "RATE_LIMITED")

		other := s.Token(t, authn.NewToken{Kind: authn.App, ClientID: servertest.OtherDashboard, Scopes: []string{authn.UsersBot}})
		for range 25 {
			want(t, "no message", postIn(t, s, viewer, servertest.Owner, `,"messageId":"x"`), 400, "INVALID_ARGUMENT")
			want(t, "no grant", postIn(t, s, other, servertest.Owner, fmt.Sprintf(`,"senderId":%q`, servertest.Viewer)), 403, "GRANT_MISSING")
		}
		id := fmt.Sprintf(`,"messageId":%q`, uid.New())
		wantPosts(t, "a repeat", 20, "2", func() servertest.Response { return postIn(t, s, viewer, servertest.Owner, id) })
	})
}

// TestFullBucketsAreForgotten checks that a Limiter holds the senders of the time of the rate
// alone.
func TestFullBucketsAreForgotten(t *testing.T) {
	clock := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	l := chat.NewLimiter(chat.DefaultRate(), func() time.Time { return clock })
	post := func() {
		if err := l.Check(t.Context(), &chat.Standing{}, chat.Message{ChannelID: servertest.Owner, UserID: uid.New()}); err != nil {
			t.Fatal(err)
		}
	}
	for range 1000 {
		post()
	}
	clock = clock.Add(1500 * time.Millisecond)
	post()
	if got := chat.Buckets(l); got != 1 {
		t.Errorf("got %d buckets, want that of the latest sender", got)
	}
}

func TestRateIsParsed(t *testing.T) {
	for text, want := range map[string]chat.Rate{"20/30s": chat.DefaultRate(), "0": {}, "1/1m30s": {Messages: 1, Per: 90 * time.Second}} {
		var got chat.Rate
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q: got %v (%v), want %v", text, got, err, want)
		}
	}
	if got := chat.DefaultRate().String(); got != "20/30s" {
		t.Errorf("the default is %s", got)
	}
	for _, text := range []string{"", "20", "20/", "0/30s", "-1/30s", "20/30", "20/0s", "20/61m", "10001/1s", "1/1s/1s"} {
		if err := new(chat.Rate).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
