package watch_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// rightsQuery is a part of the statements that check the rights of listeners, and of no others.
const rightsQuery = "mr.channel_id = r.channel_id"

// startGated starts a server whose statements pass a gate.
func startGated(t *testing.T, url store.URL) (*servertest.Server, *storetest.Gate) {
	t.Helper()
	gate := &storetest.Gate{}
	config := servertest.Config(url)
	config.DBLayer = gate.Layer()
	s := servertest.Start(t, config)
	s.Load(t, servertest.World()...)
	return s, gate
}

// drain receives the statements that a gate reports, so that the gate does not block.
func drain(t *testing.T, held <-chan storetest.Statement) {
	done := t.Context().Done()
	go func() {
		for {
			select {
			case <-held:
			case <-done:
				return
			}
		}
	}()
}

// TestRemovedModeratorReceivesNothingWhileChecksHang removes a moderator while the
// statements that check rights hang.
func TestRemovedModeratorReceivesNothingWhileChecksHang(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s, gate := startGated(t, url)
		listeners := map[string]watcher{}
		for name, watch := range transports {
			for kind, request := range map[string]*moderatov1.WatchEventsRequest{
				"one channel": {ChannelId: servertest.Owner.String()}, "all channels": {},
			} {
				listeners[name+", "+kind] = watch(t, s, s.As(t, servertest.Moderator), request)
			}
		}
		drain(t, gate.Shut(rightsQuery))
		moderators(t, s, http.MethodDelete)
		events := make(chan struct{})
		go func() {
			defer close(events)
			for i := range 10 { // for 5 s
				retitle(t, s, fmt.Sprintf("title %d", i))
				time.Sleep(500 * time.Millisecond)
			}
		}()
		for name, w := range listeners {
			got := w.next(t)
			if got.kind() != "channel.moderator.remove" {
				t.Errorf("%s: first event: got %s, want channel.moderator.remove", name, got.kind())
				continue
			}
			if got = w.next(t); got.reason != "UNAVAILABLE" {
				t.Errorf("%s: then: got %s, want the stream to end with UNAVAILABLE", name, got.kind())
			}
		}
		<-events
		gate.Open()
	})
}

// TestListenerContinuesAfterChecksRecover makes the checks hang for a while; no right ends.
func TestListenerContinuesAfterChecksRecover(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s, gate := startGated(t, url)
		w := transports["gRPC"](t, s, s.As(t, servertest.Moderator), &moderatov1.WatchEventsRequest{ChannelId: servertest.Owner.String()})
		drain(t, gate.Shut(rightsQuery))
		time.Sleep(2500 * time.Millisecond) // longer than a confirmation is valid
		retitle(t, s, "while the rights were unknown")
		select {
		case m := <-w.messages:
			if m.event != nil {
				t.Errorf("got %s while the rights were unknown", m.kind())
			}
		case <-time.After(500 * time.Millisecond):
		}
		gate.Open()
		if got := w.next(t); got.kind() != "channel.update" {
			t.Errorf("got %s, want the change made while the rights were unknown", got.kind())
		}
	})
}

// retitle changes the title of the owner's channel.
func retitle(t *testing.T, s *servertest.Server, title string) {
	t.Helper()
	body := fmt.Sprintf(`{"title":%q,"lang":"en"}`, title)
	if r := s.REST(t, s.As(t, servertest.Owner), "POST", "/v1/channels/info", body); r.Status != http.StatusOK {
		t.Error(r.Body)
	}
}

// TestStreamLimits reaches the limits of a user, a token and the server, and opens one more
// stream at each.
func TestStreamLimits(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		config := servertest.Config(url)
		config.Streams = watch.StreamLimits{PerUser: 3, PerToken: 4, Total: 8}
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		open := func(c servertest.Credentials, n int) (streams []watcher) {
			t.Helper()
			for i := range n {
				watch := transports[[]string{"gRPC", "SSE"}[i%2]]
				streams = append(streams, watch(t, s, c, &moderatov1.WatchEventsRequest{}))
			}
			return streams
		}
		wantLimit := func(what string, c servertest.Credentials, want string) {
			t.Helper()
			for name, watch := range transports {
				if got := watch(t, s, c, &moderatov1.WatchEventsRequest{}).next(t); got.reason != want {
					t.Errorf("%s, %s: got %s, want %s", what, name, got.kind(), want)
				}
			}
		}
		moderator, backend := s.As(t, servertest.Moderator), s.AsService(t)
		streams := open(moderator, 3)
		wantLimit("fourth stream of a user", moderator, "STREAM_LIMIT_REACHED")
		wantLimit("fourth stream of a user, with another token", s.As(t, servertest.Moderator), "STREAM_LIMIT_REACHED")
		open(backend, 4)
		wantLimit("fifth stream of a backend token", backend, "STREAM_LIMIT_REACHED")
		open(s.As(t, servertest.Owner), 1)
		wantLimit("ninth stream of the server", s.As(t, servertest.Other), "OVERLOADED")
		if r := s.REST(t, moderator, "GET", "/v1/events", ""); r.Status != http.StatusTooManyRequests || r.Header.Get("Retry-After") == "" {
			t.Errorf("over REST: got %d, %v; want 429 with Retry-After", r.Status, r.Header)
		}
		for _, w := range streams {
			w.stop()
		}
		deadline := time.Now().Add(patience)
		for {
			w := transports["gRPC"](t, s, moderator, &moderatov1.WatchEventsRequest{})
			select {
			case m := <-w.messages:
				if m.reason == "" {
					return // the stream is open
				}
			case <-time.After(time.Second):
				return // the stream is open, without events
			}
			if time.Now().After(deadline) {
				t.Fatal("closed streams still count towards the limit")
			}
		}
	})
}

// TestStreamLimitOfApp reaches the limit of an app with two tokens.
func TestStreamLimitOfApp(t *testing.T) {
	t.Parallel()
	config := servertest.Config(storetest.SQLite(t))
	config.Streams = watch.StreamLimits{PerToken: 2}
	s := servertest.Start(t, config)
	s.Load(t, servertest.World()...)
	open := func() watcher {
		return transports["gRPC"](t, s, s.AsApp(t), &moderatov1.WatchEventsRequest{ChannelId: servertest.Owner.String(), Type: []string{"stream.online"}})
	}
	open()
	open()
	if got := open().next(t); got.reason != "STREAM_LIMIT_REACHED" {
		t.Errorf("third stream of an app, with a third token: got %s, want STREAM_LIMIT_REACHED", got.kind())
	}
}

// TestListenerChannelLimit gives a user more channels than a listener without a channel may
// have.
func TestListenerChannelLimit(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		config := servertest.Config(url)
		config.MaxListenerChannels = 5
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...) // Moderator moderates two channels
		loadRoles(t, s, 3)
		caller := s.As(t, servertest.Moderator)
		w := transports["gRPC"](t, s, caller, &moderatov1.WatchEventsRequest{})
		retitle(t, s, "five")
		if got := w.next(t); got.kind() != "channel.update" {
			t.Errorf("five channels: got %s, want channel.update", got.kind())
		}
		loadRoles(t, s, 1)
		if got := w.next(t); got.reason != "INVALID_ARGUMENT" {
			t.Errorf("sixth channel: the stream ended with %s, want INVALID_ARGUMENT", got.kind())
		}
		for name, watch := range transports {
			if got := watch(t, s, caller, &moderatov1.WatchEventsRequest{}).next(t); got.reason != "INVALID_ARGUMENT" {
				t.Errorf("%s, six channels: got %s, want INVALID_ARGUMENT", name, got.kind())
			}
			w := watch(t, s, caller, &moderatov1.WatchEventsRequest{ChannelId: servertest.Owner.String()})
			retitle(t, s, "six channels, over "+name)
			if got := w.next(t); got.kind() != "channel.update" {
				t.Errorf("%s, one of six channels: got %s, want channel.update", name, got.kind())
			}
		}
	})
}

// loadRoles makes Moderator a moderator of n new channels.
func loadRoles(t *testing.T, s *servertest.Server, n int) {
	t.Helper()
	for range n {
		id := uid.New().String()
		s.Load(t,
			&platformv1.Record{Kind: &platformv1.Record_User{User: &platformv1.UserRecord{Id: id, Username: "u" + id}}},
			&platformv1.Record{Kind: &platformv1.Record_Channel{Channel: &platformv1.ChannelRecord{Id: id, Title: "x"}}},
			&platformv1.Record{Kind: &platformv1.Record_Role{Role: &platformv1.RoleRecord{ChannelId: id, UserId: servertest.Moderator.String(), Role: "moderator"}}})
	}
}

// TestBackendCannotActForDeletedModerator deletes a moderator. The rights end with the
// response of the deletion, before the eraser removes the roles.
func TestBackendCannotActForDeletedModerator(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		acting := s.AsService(t)
		acting.ActingUser = servertest.Moderator
		w := transports["gRPC"](t, s, acting, &moderatov1.WatchEventsRequest{ChannelId: servertest.Owner.String()})
		_, err := s.Directory.DeleteUser(s.AsService(t).Context(), &platformv1.DeleteUserRequest{UserId: servertest.Moderator.String()})
		if err != nil {
			t.Fatal(err)
		}
		channel := servertest.Owner.String()
		for _, c := range []struct{ method, path, body string }{
			{"POST", "/v1/moderation/ban", `{"channelId":"` + channel + `","banUsername":"LootGoblin77"}`},
			{"DELETE", "/v1/moderation/ban", `{"channelId":"` + channel + `","banUsername":"LootGoblin77"}`},
			{"POST", "/v1/moderation/mute", `{"channelId":"` + channel + `","mutedUserId":"` + servertest.Raider.String() + `"}`},
			{"GET", "/v1/moderation/log?channelId=" + channel, ""},
			{"GET", "/v1/webhooks?channelId=" + channel, ""},
			{"POST", "/v1/webhooks", `{"channelId":"` + channel + `","url":"https://hooks.example.com/x"}`},
			{"GET", "/v1/events?channelId=" + channel, ""},
		} {
			if r := s.REST(t, acting, c.method, c.path, c.body); r.Status != http.StatusForbidden {
				t.Errorf("%s %s: got %d, want 403; %s", c.method, c.path, r.Status, r.Body)
			}
		}
		if r := s.REST(t, acting, "GET", "/v1/moderation/channels?userId="+servertest.Moderator.String(), ""); r.Body != `{"success":true,"message":"success","data":[]}` {
			t.Errorf("moderated channels: got %s, want none", r.Body)
		}
		if got := w.next(t); got.reason != "NOT_CHANNEL_MODERATOR" {
			t.Errorf("the stream ended with %s, want NOT_CHANNEL_MODERATOR", got.kind())
		}
	})
}
