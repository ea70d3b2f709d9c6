package gateway_test

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
)

func TestErrorListsAllViolations(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	channel := servertest.Owner.String()
	for _, c := range []struct {
		name, method, path, body string
		fields                   []string
	}{
		{"add moderator without arguments", "POST", moderatorsPath, `{}`, []string{"channelId", "userId"}},
		{"remove moderator without arguments", "DELETE", moderatorsPath, `{}`, []string{"channelId", "userId"}},
		{"ban without arguments", "POST", banPath, `{}`, []string{"banUserId", "channelId"}},
		{"both names given to ban", "POST", banPath, args("channelId", channel, "banUserId", servertest.Raider.String(), "banUsername", "LootGoblin77"), []string{"banUserId", "banUsername"}},
		{"bad forms to ban", "POST", banPath, args("channelId", "1", "banUsername", "no spaces"), []string{"banUsername", "channelId"}},
		{"mute without arguments", "POST", mutePath, `{}`, []string{"channelId", "mutedUserId"}},
		{"wrong types to mute", "POST", mutePath, `{"channelId":1,"mutedUserId":[]}`, []string{"channelId", "mutedUserId"}},
		{"list moderators without arguments", "GET", moderatorsPath, "", []string{"channelId"}},
		{"list channels without arguments", "GET", channelsPath, "", []string{"userId"}},
		{"a bad form in the query", "GET", channelsPath + "?userId=" + channel[:35], "", []string{"userId"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantViolations(t, s.REST(t, owner, c.method, c.path, c.body), c.fields...)
		})
	}
}

func TestSingleViolationIsErrorMessage(t *testing.T) {
	t.Parallel()
	s := start(t)
	body := wantViolations(t, s.REST(t, s.As(t, servertest.Owner), "GET", channelsPath+"?userId=x", ""), "userId")
	want := "userId " + body.Data.Violations[0].Description + "."
	if body.Message != want {
		t.Errorf("message: got %q, want %q", body.Message, want)
	}
}

func TestForbiddenNamesMissingPermission(t *testing.T) {
	t.Parallel()
	s := start(t)
	channels := channelsPath + "?userId=" + servertest.Viewer.String()
	add := roleArgs(servertest.Viewer)
	service := s.AsService(t)
	ungranted := s.Token(t, authn.NewToken{Kind: authn.App, ClientID: servertest.OtherDashboard, Scopes: authn.Scopes()})
	for _, c := range []struct {
		name               string
		caller             servertest.Credentials
		method, path, body string
		code, scope        string
		tokens             []string
	}{
		{"no scope to read", narrow(t, s, servertest.Viewer), "GET", channels, "", "SCOPE_MISSING", "users.read", nil},
		{"no scope to moderate", narrow(t, s, servertest.Owner), "POST", moderatorsPath, add, "SCOPE_MISSING", "channel.moderate", nil},
		{"no grant", ungranted, "GET", channels, "", "GRANT_MISSING", "users.read", nil},
		{"app token to moderate", s.AsApp(t), "POST", moderatorsPath, add, "TOKEN_KIND_NOT_ACCEPTED", "", []string{"user"}},
		{"service token without acting user", service, "DELETE", moderatorsPath, add, "TOKEN_KIND_NOT_ACCEPTED", "", []string{"user"}},
		{"not the owner", s.As(t, servertest.Moderator), "POST", moderatorsPath, add, "NOT_CHANNEL_OWNER", "", nil},
		{"not a moderator", s.As(t, servertest.Viewer), "POST", banPath, args("channelId", servertest.Owner.String(), "banUsername", "nobody"), "NOT_CHANNEL_MODERATOR", "", nil},
		{"not oneself", s.As(t, servertest.Owner), "GET", channels, "", "NOT_SELF", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := s.REST(t, c.caller, c.method, c.path, c.body)
			body := wantRefused(t, r, http.StatusForbidden, c.code)
			if body.Data.RequiredScope != c.scope {
				t.Errorf("requiredScope: got %q, want %q", body.Data.RequiredScope, c.scope)
			}
			if !slices.Equal(body.Data.AcceptedTokens, c.tokens) {
				t.Errorf("acceptedTokens: got %q, want %q", body.Data.AcceptedTokens, c.tokens)
			}
			want := ""
			if c.code == "SCOPE_MISSING" {
				want = `Bearer realm="moderato", error="insufficient_scope", scope="` + c.scope + `"`
			}
			if got := r.Header.Get("WWW-Authenticate"); got != want {
				t.Errorf("WWW-Authenticate: got %q, want %q", got, want)
			}
		})
	}
}

// RFC 6750: the error attribute is present only if the request had a token.
func TestUnauthorizedHasChallengeHeader(t *testing.T) {
	t.Parallel()
	s := start(t)
	viewer := s.As(t, servertest.Viewer)
	revoked := s.As(t, servertest.Viewer)
	if _, err := authn.Revoke(context.Background(), s.Store, revoked.Token, nil); err != nil {
		t.Fatal(err)
	}
	short := s.Token(t, authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Viewer, Lifetime: time.Minute})
	s.Store.Clock.Advance(time.Hour)
	damaged := viewer.Token[:len(viewer.Token)-1] + "-"
	const (
		plain   = `^Bearer realm="[^"]+"$`
		invalid = `^Bearer realm="[^"]+", error="invalid_token", error_description="[^"]+"$`
	)
	for _, c := range []struct {
		name, authorization, client string
		code, challenge             string
	}{
		{"no token", "", servertest.Dashboard, "TOKEN_MISSING", plain},
		{"another scheme", "Basic bWU6bWU=", servertest.Dashboard, "TOKEN_MISSING", plain},
		{"no scheme", viewer.Token, servertest.Dashboard, "TOKEN_MISSING", plain},
		{"scheme only", "Bearer", servertest.Dashboard, "TOKEN_MISSING", plain},
		{"a damaged token", "Bearer " + damaged, servertest.Dashboard, "TOKEN_INVALID", invalid},
		{"no token at all", "Bearer x", servertest.Dashboard, "TOKEN_INVALID", invalid},
		{"a revoked token", "Bearer " + revoked.Token, servertest.Dashboard, "TOKEN_INVALID", invalid},
		{"an expired token", "Bearer " + short.Token, servertest.Dashboard, "TOKEN_EXPIRED", invalid},
		{"no client", "Bearer " + viewer.Token, "", "CLIENT_ID_MISSING", plain},
		{"another client", "Bearer " + viewer.Token, servertest.OtherDashboard, "CLIENT_ID_MISMATCH", plain},
	} {
		t.Run(c.name, func(t *testing.T) {
			request := s.Request(t, servertest.Credentials{ClientID: c.client}, "GET", listModerators(), "")
			if c.authorization != "" {
				request.Header.Set("Authorization", c.authorization)
			}
			r := s.Do(t, request)
			wantRefused(t, r, http.StatusUnauthorized, c.code)
			if got := r.Header.Get("WWW-Authenticate"); !regexp.MustCompile(c.challenge).MatchString(got) {
				t.Errorf("WWW-Authenticate: got %q, want %s", got, c.challenge)
			}
		})
	}
	wantOK(t, s.REST(t, viewer, "GET", listModerators(), ""))
}

func TestMuteActiveHasRetryAfter(t *testing.T) {
	t.Parallel()
	s := start(t)
	begin := instant.Of(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	s.Store.Clock.Freeze(begin)
	owner := s.As(t, servertest.Owner)
	mute := args("channelId", servertest.Owner.String(), "mutedUserId", servertest.Raider.String())
	wantOK(t, s.REST(t, owner, "POST", mutePath, mute))
	for _, c := range []struct {
		after time.Duration
		retry string
	}{
		{0, "600"},
		{time.Millisecond, "600"},
		{time.Second, "599"},
		{10*time.Minute - time.Millisecond, "1"},
	} {
		s.Store.Clock.Freeze(begin.Add(c.after))
		r := s.REST(t, owner, "POST", mutePath, mute)
		body := wantRefused(t, r, http.StatusConflict, "MUTE_ACTIVE")
		if got := r.Header.Get("Retry-After"); got != c.retry {
			t.Errorf("after %s: got Retry-After %q, want %s", c.after, got, c.retry)
		}
		if got, want := body.Data.MuteExpiresAt, "2026-05-01T12:10:00.000Z"; got != want {
			t.Errorf("after %s: got muteExpiresAt %q, want %s", c.after, got, want)
		}
	}
}

// The request starts while the server is running, and is complete only when the server
// drains.
func TestCallDuringDrainIsUnavailable(t *testing.T) {
	t.Parallel()
	s := start(t)
	body := roleArgs(servertest.Viewer)
	conn := dial(t, s)
	from := bufio.NewReader(conn)
	write := func(text string) {
		if _, err := conn.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	write(head(s, s.As(t, servertest.Owner), "POST", moderatorsPath) + "Content-Type: application/json\r\n" +
		"Expect: 100-continue\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n")
	if r := answer(t, from, "POST"); r.Status != http.StatusContinue {
		t.Fatalf("before the body: got %d, want 100", r.Status)
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.Stop(t)
	}()
	for isListening(t, s.HTTPAddr) { // the server drains once it has stopped listening
		time.Sleep(time.Millisecond)
	}
	write(body)
	r := answer(t, from, "POST")
	wantRefused(t, r, http.StatusServiceUnavailable, "UNAVAILABLE")
	if got := r.Header.Get("Retry-After"); got != "1" {
		t.Errorf("Retry-After: got %q, want 1", got)
	}
	<-stopped
}

func isListening(t *testing.T, addr string) bool {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

func TestServerErrorsHideTheirCause(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	wantOK(t, s.REST(t, owner, "GET", listModerators(), ""))
	if _, err := s.Store.DB().ExecContext(t.Context(), "DROP TABLE roles"); err != nil {
		t.Fatal(err)
	}
	for _, r := range []servertest.Response{
		s.REST(t, owner, "GET", listModerators(), ""),
		s.REST(t, owner, "POST", moderatorsPath, roleArgs(servertest.Viewer)),
	} {
		wantRefused(t, r, http.StatusInternalServerError, "INTERNAL")
		wantNoTrace(t, r)
	}
}

// wantNoTrace checks that a response reveals nothing about its cause.
func wantNoTrace(t *testing.T, r servertest.Response) {
	t.Helper()
	text := strings.ToLower(r.Body)
	for name, values := range r.Header {
		text += "\n" + strings.ToLower(name+": "+strings.Join(values, ","))
	}
	for _, trace := range []string{
		"select", "roles", "sql", "no such table", "0x", ".go", "goroutine", "panic",
		"*moderatov1", "errors.", "fault.", "ent:", "rpc error", "context", "grpc",
	} {
		if strings.Contains(text, trace) {
			t.Errorf("the answer shows %q: %s", trace, text)
		}
	}
}
