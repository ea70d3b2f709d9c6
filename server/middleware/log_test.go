package middleware_test

import (
	"log/slog"
	"net/netip"
	"testing"
	"time"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

func TestEachCallIsLoggedAtItsLevel(t *testing.T) {
	t.Parallel()
	s, log := logged(t)
	owner, service := s.As(t, servertest.Owner), s.AsService(t)
	rest := func(c servertest.Credentials, method, path, body string) func(id string) {
		return func(id string) {
			r := s.Request(t, c, method, path, body)
			r.Header.Set("X-Request-Id", id)
			s.Do(t, r)
		}
	}
	channel := servertest.Owner.String()
	for _, c := range []struct {
		name, level, code, transport string
		call                         func(id string)
	}{
		{"change", "INFO", "OK", "rest", rest(owner, "POST", moderatorsPath, roleOf(servertest.Viewer))},
		{"change-without-effect", "INFO", "OK", "rest", rest(owner, "POST", moderatorsPath, roleOf(servertest.Viewer))},
		{"read", "DEBUG", "OK", "rest", rest(owner, "GET", listOf(servertest.Owner), "")},
		{"bad-argument", "INFO", "INVALID_ARGUMENT", "rest", rest(owner, "GET", moderatorsPath, "")},
		{"unknown-channel", "INFO", "CHANNEL_NOT_FOUND", "rest", rest(owner, "GET", listOf(servertest.Nobody), "")},
		{"no-token", "INFO", "TOKEN_MISSING", "rest", rest(servertest.Credentials{}, "GET", listOf(servertest.Owner), "")},
		{"forbidden", "INFO", "NOT_CHANNEL_OWNER", "rest", rest(s.As(t, servertest.Viewer), "POST", moderatorsPath, roleOf(servertest.Viewer))},
	} {
		c.call(c.name)
		wantLine(t, log, c.name, c.level, c.code, c.transport)
	}

	grpcCalls := []struct {
		method, level, code string
		call                func()
	}{
		{healthCheck, "DEBUG", "OK", func() {
			_, _ = healthv1.NewHealthClient(s.Conn).Check(t.Context(), &healthv1.HealthCheckRequest{})
		}},
		{platformv1.ChatService_PostMessage_FullMethodName, "INFO", "OK", func() {
			_, _ = s.Chat.PostMessage(service.Context(), &platformv1.PostMessageRequest{ChannelId: channel, UserId: servertest.Viewer.String(), Text: "hello"})
		}},
		{platformv1.ChatService_ListMessages_FullMethodName, "DEBUG", "OK", func() {
			_, _ = s.Chat.ListMessages(service.Context(), &platformv1.ListMessagesRequest{ChannelId: channel})
		}},
		{moderatov1.ModerationService_ListModeratedChannels_FullMethodName, "DEBUG", "OK", func() {
			_, _ = s.Moderation.ListModeratedChannels(owner.Context(), &moderatov1.ListModeratedChannelsRequest{UserId: channel})
		}},
	}
	for _, c := range grpcCalls {
		c.call()
		found := log.find(t, "msg", "call", "method", c.method, "transport", "grpc")
		if len(found) != 1 || found[0]["level"] != c.level || found[0]["code"] != c.code {
			t.Errorf("%s: got %v, want one line at %s with %s", c.method, found, c.level, c.code)
		}
	}

	if _, err := s.Store.DB().ExecContext(t.Context(), "DROP TABLE roles"); err != nil {
		t.Fatal(err)
	}
	rest(owner, "GET", listOf(servertest.Owner), "")("our-fault")
	wantLine(t, log, "our-fault", "ERROR", "INTERNAL", "rest")
	if cause := log.find(t, "request_id", "our-fault")[0]["error"]; cause == nil {
		t.Error("our fault has no cause in the log")
	}
}

// wantLine checks the only log line of a call.
func wantLine(t *testing.T, log *lines, id, level, code, transport string) {
	t.Helper()
	found := log.find(t, "request_id", id)
	if len(found) != 1 {
		t.Fatalf("%s: got %d lines, want one: %v", id, len(found), found)
	}
	for key, want := range map[string]string{"msg": "call", "level": level, "code": code, "transport": transport} {
		if got := found[0][key]; got != want {
			t.Errorf("%s: got %s %v, want %s", id, key, got, want)
		}
	}
}

func TestLogLineNamesCaller(t *testing.T) {
	t.Parallel()
	s, log := logged(t)
	acting := s.AsService(t)
	acting.ActingUser = servertest.Owner
	for _, c := range []struct {
		id           string
		caller       servertest.Credentials
		client, kind string
		user         string
	}{
		{"user", s.As(t, servertest.Owner), servertest.Dashboard, "user", servertest.Owner.String()},
		{"app", s.AsApp(t), servertest.Dashboard, "app", ""},
		{"service", s.AsService(t), servertest.ChatServer, "service", ""},
		{"acting", acting, servertest.ChatServer, "service", servertest.Owner.String()},
		{"nobody", servertest.Credentials{}, "", "", ""},
	} {
		r := s.Request(t, c.caller, "GET", listOf(servertest.Owner), "")
		r.Header.Set("X-Request-Id", c.id)
		s.Do(t, r)
		line := log.find(t, "request_id", c.id)[0]
		for key, want := range map[string]string{"client_id": c.client, "token_kind": c.kind, "user_id": c.user} {
			if got, _ := line[key].(string); got != want {
				t.Errorf("%s: got %s %q, want %q", c.id, key, got, want)
			}
		}
		if line["method"] != listModerators || line["duration_ms"] == nil {
			t.Errorf("%s: got method %v and duration %v", c.id, line["method"], line["duration_ms"])
		}
	}
}

// TestRefusedRequestsAreLoggedWithAddressAndPath checks what operators need to find a client
// that sends bad requests.
func TestRefusedRequestsAreLoggedWithAddressAndPath(t *testing.T) {
	t.Parallel()
	s, log := logged(t)
	owner := s.As(t, servertest.Owner)
	for id, c := range map[string]struct{ method, path, body, wantPath string }{
		"nowhere":    {"GET", "/nowhere/%0Aadmin", "", "/nowhere/%0Aadmin"},
		"method":     {"PUT", moderatorsPath, "", moderatorsPath},
		"no-object":  {"POST", moderatorsPath, "{", moderatorsPath},
		"wrong-type": {"POST", moderatorsPath, `{"channelId":1}`, moderatorsPath},
	} {
		r := s.Request(t, owner, c.method, c.path, c.body)
		r.Header.Set("X-Request-Id", id)
		s.Do(t, r)
		found := log.find(t, "msg", "refused", "request_id", id, "path", c.wantPath, "http_method", c.method)
		if len(found) != 1 || !isLoopback(found[0]["address"]) {
			t.Errorf("%s: got %v, want one line with the address", id, found)
		}
	}
	s.REST(t, servertest.Credentials{}, "GET", listOf(servertest.Owner), "")
	_, _ = s.Moderation.ListModeratedChannels(t.Context(), &moderatov1.ListModeratedChannelsRequest{})
	for _, transport := range []string{"rest", "grpc"} {
		found := log.find(t, "msg", "call", "code", "TOKEN_MISSING", "transport", transport)
		if len(found) != 1 || !isLoopback(found[0]["address"]) {
			t.Errorf("%s: got %v, want one line with the address", transport, found)
		}
	}
}

func isLoopback(address any) bool {
	text, _ := address.(string)
	at, err := netip.ParseAddrPort(text)
	return err == nil && at.Addr().IsLoopback()
}

// TestFailingDatabaseIsLoggedOnce calls a server that lost its database, while its jobs run.
func TestFailingDatabaseIsLoggedOnce(t *testing.T) {
	storetest.OneServer(t, func(t *testing.T, url store.URL) {
		proxy := storetest.NewProxy(t, url)
		config, kept := servertest.Config(proxy.URL), &lines{}
		config.Log = slog.New(slog.NewJSONHandler(kept, nil))
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		owner := s.As(t, servertest.Owner)
		proxy.SetDown(true)
		for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			s.REST(t, owner, "GET", listOf(servertest.Owner), "")
			s.REST(t, owner, "POST", moderatorsPath, roleOf(servertest.Viewer))
		}
		proxy.SetDown(false)
		if got := append(kept.find(t, "level", "ERROR"), kept.find(t, "level", "WARN")...); len(got) != 1 {
			t.Errorf("got %d lines, want one: %v", len(got), got)
		}
		if got := kept.find(t, "code", "UNAVAILABLE"); len(got) != 0 {
			t.Errorf("got lines of calls: %v", got)
		}
		eventually(t, "a call", func() bool { return s.REST(t, owner, "GET", listOf(servertest.Owner), "").Status == 200 })
	})
}
