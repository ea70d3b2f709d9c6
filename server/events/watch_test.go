package events_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/auth"
	"github.com/moderato-live/moderato/server/events"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
	"github.com/moderato-live/moderato/server/uid"
)

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// heard is a message of a stream on either face.
type heard struct {
	cursor string
	event  map[string]any // nil for a sign of life
	reason string         // why the stream ended
}

// kind is the event's type, or why the stream ended.
func (h heard) kind() string {
	if h.event == nil {
		return h.reason
	}
	return h.event["metadata"].(map[string]any)["subscriptionType"].(string)
}

// watcher is a stream of a test.
type watcher struct {
	messages <-chan heard
	stop     func()
}

// next is the next event, or the end.
func (w watcher) next(t *testing.T) heard {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case m := <-w.messages:
			if m.event != nil || m.reason != "" {
				return m
			}
		case <-deadline:
			t.Fatal("nothing came")
		}
	}
}

// face opens a stream, which is there when it answers.
type face func(t *testing.T, s *servertest.Server, c servertest.Credentials, req *moderatov1.WatchEventsRequest) watcher

var faces = map[string]face{"gRPC": watchGRPC, "SSE": watchSSE}

// started waits for the first message, after which nothing is missed.
func started(t *testing.T, messages <-chan heard, stop func()) watcher {
	t.Helper()
	t.Cleanup(stop)
	first := make(chan heard, 1)
	w := watcher{messages: messages, stop: stop}
	select {
	case m := <-messages:
		if m.reason != "" {
			first <- m
			return watcher{messages: first, stop: stop}
		}
		if m.cursor == "" || m.event != nil {
			t.Errorf("the stream begins with %+v, want a cursor", m)
		}
	case <-time.After(patience):
		t.Fatal("the stream does not begin")
	}
	return w
}

func watchGRPC(t *testing.T, s *servertest.Server, c servertest.Credentials, req *moderatov1.WatchEventsRequest) watcher {
	t.Helper()
	ctx, cancel := context.WithCancel(c.Context())
	stream, err := moderatov1.NewEventsServiceClient(s.Conn).WatchEvents(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	messages := make(chan heard, 1000)
	go func() {
		for {
			m, err := stream.Recv()
			if err != nil {
				messages <- heard{reason: reasonOf(err)}
				return
			}
			h := heard{cursor: m.GetCursor()}
			if m.GetEvent() != nil {
				_ = json.Unmarshal(events.JSON(m.GetEvent()), &h.event)
			}
			messages <- h
		}
	}()
	return started(t, messages, cancel)
}

func reasonOf(err error) string {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return err.Error()
}

func watchSSE(t *testing.T, s *servertest.Server, c servertest.Credentials, req *moderatov1.WatchEventsRequest) watcher {
	t.Helper()
	query := url.Values{"type[]": req.GetType()}
	if req.GetChannelId() != "" {
		query.Set("channelId", req.GetChannelId())
	}
	r := s.Request(t, c, http.MethodGet, "/v1/events?"+query.Encode(), "")
	if req.GetCursor() != "" {
		r.Header.Set("Last-Event-ID", req.GetCursor())
	}
	ctx, cancel := context.WithCancel(context.Background())
	response, err := http.DefaultClient.Do(r.WithContext(ctx)) //nolint:bodyclose // by who reads it, below
	if err != nil {
		t.Fatal(err)
	}
	messages := make(chan heard, 1000)
	go func() {
		defer func() { _ = response.Body.Close() }()
		if response.StatusCode != http.StatusOK {
			messages <- heard{reason: codeOf(json.NewDecoder(response.Body))}
			return
		}
		readFrames(response, messages)
	}()
	return started(t, messages, cancel)
}

func codeOf(d *json.Decoder) string {
	var body struct{ Data struct{ Code string } }
	if err := d.Decode(&body); err != nil {
		return err.Error()
	}
	return body.Data.Code
}

// readFrames reads Server-Sent Events as a browser does.
func readFrames(response *http.Response, messages chan<- heard) {
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	var h heard
	kind, data := "", ""
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			h.cursor = value
		case "event":
			kind = value
		case "data":
			data = value
		case "":
			if lines.Text() != "" {
				continue // a comment
			}
			if kind == "end" {
				h.reason = codeOf(json.NewDecoder(strings.NewReader(data)))
			} else if data != "" {
				_ = json.Unmarshal([]byte(data), &h.event)
			}
			messages <- h
			h, kind, data = heard{}, "", ""
		}
	}
	messages <- heard{reason: "closed"}
}

func ban(t *testing.T, s *servertest.Server, channel, user uid.ID) {
	t.Helper()
	by := s.As(t, channel)
	r := s.REST(t, by, http.MethodPost, "/v1/moderation/ban", fmt.Sprintf(`{"channelId":%q,"banUserId":%q}`, channel, user))
	if r.Status != http.StatusOK {
		t.Fatal(r.Body)
	}
}

func unban(t *testing.T, s *servertest.Server, channel, user uid.ID) {
	t.Helper()
	r := s.REST(t, s.As(t, channel), http.MethodDelete, "/v1/moderation/ban", fmt.Sprintf(`{"channelId":%q,"banUserId":%q}`, channel, user))
	if r.Status != http.StatusOK {
		t.Fatal(r.Body)
	}
}

// eachFace runs a test on every store with each kind of stream.
func eachFace(t *testing.T, test func(t *testing.T, s *servertest.Server, watch face)) {
	t.Helper()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for name, watch := range faces {
			t.Run(name, func(t *testing.T) { test(t, s, watch) })
		}
	})
}

func TestABanIsHeard(t *testing.T) {
	eachFace(t, func(t *testing.T, s *servertest.Server, watch face) {
		w := watch(t, s, s.As(t, servertest.Moderator), &moderatov1.WatchEventsRequest{
			ChannelId: servertest.Owner.String(),
			// An unban of before may get its position only now.
			Type: []string{"channel.ban", "channel.chat.clear_user_messages"},
		})
		ban(t, s, servertest.Other, servertest.Raider) // another channel
		ban(t, s, servertest.Owner, servertest.Raider)
		defer unban(t, s, servertest.Owner, servertest.Raider)
		defer unban(t, s, servertest.Other, servertest.Raider)
		first, second := w.next(t), w.next(t)
		if first.kind() != "channel.ban" || second.kind() != "channel.chat.clear_user_messages" {
			t.Fatalf("heard %s, %s, want the ban and its deletion", first.kind(), second.kind())
		}
		meta, payload := first.event["metadata"].(map[string]any), first.event["payload"].(map[string]any)
		for name, want := range map[string]any{"messageType": "notification", "subscriptionVersion": "1", "channelId": servertest.Owner.String()} {
			if meta[name] != want {
				t.Errorf("metadata.%s is %v, want %v", name, meta[name], want)
			}
		}
		if len(meta) != 7 || meta["messageTimestamp"] != payload["bannedAt"] || meta["messageId"] == "" || meta["sequence"].(float64) < 1 {
			t.Errorf("metadata are %v", meta)
		}
		for name, want := range map[string]any{
			"channelId": servertest.Owner.String(), "moderatorId": servertest.Owner.String(), "clientId": servertest.Dashboard,
			"bannedUserId": servertest.Raider.String(), "bannedUserDisplayName": `Loot "Goblin" 77`,
		} {
			if payload[name] != want {
				t.Errorf("payload.%s is %v, want %v", name, payload[name], want)
			}
		}
	})
}

func TestAStreamGoesOnFromItsCursor(t *testing.T) {
	eachFace(t, func(t *testing.T, s *servertest.Server, watch face) {
		req := &moderatov1.WatchEventsRequest{Type: []string{"channel.ban", "channel.unban"}}
		owner := s.As(t, servertest.Owner)
		w := watch(t, s, owner, req)
		ban(t, s, servertest.Owner, servertest.Raider)
		first := w.next(t)
		w.stop()
		unban(t, s, servertest.Owner, servertest.Raider)
		ban(t, s, servertest.Owner, servertest.Viewer)
		req.Cursor = first.cursor
		w = watch(t, s, owner, req)
		unban(t, s, servertest.Owner, servertest.Viewer)
		for i, want := range []string{"channel.unban", "channel.ban", "channel.unban"} {
			if got := w.next(t); got.kind() != want {
				t.Fatalf("event %d after the cursor is %s, want %s", i, got.kind(), want)
			}
		}
	})
}

func TestWhoMayHearWhat(t *testing.T) {
	owner, other := servertest.Owner.String(), servertest.Other.String()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		acting := func(user uid.ID) servertest.Credentials {
			c := s.AsService(t)
			c.ActingUser = user
			return c
		}
		read := s.Token(t, auth.NewToken{Kind: auth.User, ClientID: servertest.Dashboard, UserID: servertest.Owner, Scopes: []string{auth.UsersRead}})
		for _, c := range []struct {
			name    string
			caller  servertest.Credentials
			channel string
			hears   string // the channels that are heard of: "both", "owner", "", or why the stream is refused
		}{
			{"the owner", s.As(t, servertest.Owner), owner, "owner"},
			{"the owner of all that is theirs", s.As(t, servertest.Owner), "", "owner"},
			{"a moderator of both", s.As(t, servertest.Moderator), "", "both"},
			{"a moderator of one", s.As(t, servertest.Moderator), owner, "owner"},
			{"a viewer of a channel", s.As(t, servertest.Viewer), owner, "NOT_CHANNEL_MODERATOR"},
			{"a viewer of their own channel, which they lack", s.As(t, servertest.Viewer), servertest.Viewer.String(), "CHANNEL_NOT_FOUND"},
			{"a viewer of all that is theirs", s.As(t, servertest.Viewer), "", ""},
			{"another owner", s.As(t, servertest.Other), owner, "NOT_CHANNEL_MODERATOR"},
			{"a moderator of a channel that is none", s.As(t, servertest.Moderator), servertest.Nobody.String(), "NOT_CHANNEL_MODERATOR"},
			{"an app", s.AsApp(t), owner, "TOKEN_KIND_NOT_ACCEPTED"},
			{"a user without the scope", read, owner, "SCOPE_MISSING"},
			{"a backend", s.AsService(t), "", "both"},
			{"a backend of one channel", s.AsService(t), owner, "owner"},
			{"a backend of a channel that is none", s.AsService(t), servertest.Nobody.String(), "CHANNEL_NOT_FOUND"},
			{"a backend for the other owner", acting(servertest.Other), owner, "NOT_CHANNEL_MODERATOR"},
			{"a backend for the owner", acting(servertest.Owner), "", "owner"},
			{"nobody", servertest.Credentials{}, owner, "TOKEN_MISSING"},
		} {
			for name, watch := range faces {
				w := watch(t, s, c.caller, &moderatov1.WatchEventsRequest{ChannelId: c.channel, Type: []string{"channel.ban"}})
				want := map[string][]string{"both": {other, owner}, "owner": {owner}, "": {}}[c.hears]
				if want == nil {
					if got := w.next(t); got.reason != c.hears {
						t.Errorf("%s, %s: heard %s, want %s", c.name, name, got.kind(), c.hears)
					}
					continue
				}
				ban(t, s, servertest.Other, servertest.Raider)
				ban(t, s, servertest.Owner, servertest.Raider)
				for _, channel := range want {
					got := w.next(t)
					if got.event == nil || got.event["payload"].(map[string]any)["channelId"] != channel {
						t.Errorf("%s, %s: heard %v, want a ban in %s", c.name, name, got, channel)
					}
				}
				w.stop()
				unban(t, s, servertest.Other, servertest.Raider)
				unban(t, s, servertest.Owner, servertest.Raider)
			}
		}
	})
}

// TestAStreamEndsWithItsRight has each right end while a stream is open, and
// checks the reason and that it takes at most 2 s.
func TestAStreamEndsWithItsRight(t *testing.T) {
	owner := servertest.Owner.String()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, c := range []struct {
			name    string
			end     func(t *testing.T, caller servertest.Credentials)
			restore func(t *testing.T)
			want    string
		}{
			{"the role is taken", func(t *testing.T, _ servertest.Credentials) {
				moderators(t, s, http.MethodDelete)
			}, func(t *testing.T) { moderators(t, s, http.MethodPost) }, "NOT_CHANNEL_MODERATOR"},
			{"the moderator is banned", func(t *testing.T, _ servertest.Credentials) {
				ban(t, s, servertest.Owner, servertest.Moderator)
			}, func(t *testing.T) { unban(t, s, servertest.Owner, servertest.Moderator) }, "NOT_CHANNEL_MODERATOR"},
			{"the token is revoked", func(t *testing.T, caller servertest.Credentials) {
				if _, err := auth.Revoke(context.Background(), s.Store, caller.Token, nil); err != nil {
					t.Fatal(err)
				}
			}, func(*testing.T) {}, "TOKEN_INVALID"},
			{"the token expires", func(*testing.T, servertest.Credentials) {
				s.Store.Clock.Advance(400 * 24 * time.Hour)
			}, func(*testing.T) {}, "TOKEN_EXPIRED"},
		} {
			for name, watch := range faces {
				caller := s.As(t, servertest.Moderator)
				w := watch(t, s, caller, &moderatov1.WatchEventsRequest{ChannelId: owner, Type: []string{"channel.update"}})
				ended := time.Now()
				c.end(t, caller)
				got := w.next(t)
				if took := time.Since(ended); got.reason != c.want || took > 2500*time.Millisecond {
					t.Errorf("%s, %s: ended with %s after %s, want %s within 2 s", c.name, name, got.reason, took, c.want)
				}
				c.restore(t)
			}
		}
	})
}

func moderators(t *testing.T, s *servertest.Server, method string) {
	t.Helper()
	body := fmt.Sprintf(`{"channelId":%q,"userId":%q}`, servertest.Owner, servertest.Moderator)
	if r := s.REST(t, s.As(t, servertest.Owner), method, "/v1/moderation/moderators", body); r.Status != http.StatusOK {
		t.Fatal(r.Body)
	}
}

func TestBadRequestsForEventsAreRefused(t *testing.T) {
	foreign, err := store.EncodeCursor("ListMessages", 1)
	if err != nil {
		t.Fatal(err)
	}
	future, err := store.EncodeCursor("events", 1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	negative, err := store.EncodeCursor("events", -1)
	if err != nil {
		t.Fatal(err)
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for name, watch := range faces {
			for _, c := range []struct {
				req  *moderatov1.WatchEventsRequest
				want string
			}{
				{&moderatov1.WatchEventsRequest{ChannelId: "x"}, "INVALID_ARGUMENT"},
				{&moderatov1.WatchEventsRequest{Type: []string{"channel.ban", "channel.bans"}}, "INVALID_ARGUMENT"},
				{&moderatov1.WatchEventsRequest{Type: strings.Split(strings.Repeat("channel.ban,", 100)+"channel.ban", ",")}, "INVALID_ARGUMENT"},
				{&moderatov1.WatchEventsRequest{Cursor: "x"}, "CURSOR_INVALID"},
				{&moderatov1.WatchEventsRequest{Cursor: foreign}, "CURSOR_INVALID"},
				{&moderatov1.WatchEventsRequest{Cursor: future}, "CURSOR_INVALID"},
				{&moderatov1.WatchEventsRequest{Cursor: negative}, "CURSOR_INVALID"},
			} {
				if got := watch(t, s, s.As(t, servertest.Owner), c.req).next(t); got.reason != c.want {
					t.Errorf("%s: %v: got %s, want %s", name, c.req, got.kind(), c.want)
				}
			}
		}
	})
}

func TestAServerThatStopsEndsItsStreams(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		for name, watch := range faces {
			s := servertest.Start(t, servertest.Config(url))
			s.Load(t, servertest.World()...)
			w := watch(t, s, s.As(t, servertest.Owner), &moderatov1.WatchEventsRequest{})
			began := time.Now()
			s.Stop(t)
			if got := w.next(t); got.reason != "UNAVAILABLE" && name == "SSE" {
				t.Errorf("%s: ended with %s, want UNAVAILABLE", name, got.reason)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("%s: the server took %s to stop", name, took)
			}
		}
	})
}

// TestABanOnOneServerIsHeardOnAnother runs two servers on one database.
func TestABanOnOneServerIsHeardOnAnother(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		a, b := servertest.Start(t, servertest.Config(url)), servertest.Start(t, servertest.Config(url))
		a.Load(t, servertest.World()...)
		for name, watch := range faces {
			w := watch(t, b, b.As(t, servertest.Moderator), &moderatov1.WatchEventsRequest{Type: []string{"channel.ban"}})
			ban(t, a, servertest.Owner, servertest.Raider)
			if got := w.next(t); got.kind() != "channel.ban" || got.cursor == "" {
				t.Errorf("%s: heard %s, want the ban", name, got.kind())
			}
			unban(t, a, servertest.Owner, servertest.Raider)
		}
	})
}
