package oauth_test

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"golang.org/x/oauth2"

	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestCodeIsBound checks that a code is of use only to its client, with its redirect URI and
// verifier, and that wrong attempts leave it as it is.
func TestCodeIsBound(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		c := s.config(web, authn.UsersRead)
		for _, other := range []string{rival, native} { // the user uses the other clients too
			s.signIn(t, s.config(other, authn.UsersRead), servertest.Viewer)
		}
		verifier := oauth2.GenerateVerifier()
		code := s.code(t, c, verifier, servertest.Viewer)
		elsewhere := *c
		elsewhere.RedirectURL = callback + "?a=b"
		s.redeem(t, s.config(rival), code, verifier).want(t, "another client", http.StatusBadRequest, "invalid_grant")
		public := s.config(native)
		public.RedirectURL = callback
		s.redeem(t, public, code, verifier).want(t, "a public client", http.StatusBadRequest, "invalid_grant")
		s.redeem(t, &elsewhere, code, verifier).want(t, "another redirect URI", http.StatusBadRequest, "invalid_grant")
		s.redeem(t, c, code, oauth2.GenerateVerifier()).want(t, "another verifier", http.StatusBadRequest, "invalid_grant")
		s.redeem(t, c, code, "").want(t, "no verifier", http.StatusBadRequest, "invalid_grant")
		s.redeem(t, c, code[1:], verifier).want(t, "another code", http.StatusBadRequest, "invalid_grant")
		s.redeem(t, c, code, verifier).want(t, "the client", http.StatusOK, "")
	})
}

func TestCodeExpires(t *testing.T) {
	s := one(t)
	c := s.config(web, authn.UsersRead)
	verifier := oauth2.GenerateVerifier()
	code := s.code(t, c, verifier, servertest.Viewer)
	s.Store.Clock.Advance(minute)
	s.redeem(t, c, code, verifier).want(t, "after a minute", http.StatusBadRequest, "invalid_grant")
}

// TestSecondUseOfCodeEndsTokens checks that a second use ends the tokens of the first, also
// those of refreshes, and no others. The second server shows that no state is in memory.
func TestSecondUseOfCodeEndsTokens(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, u store.URL) {
		s := open(t, config(u))
		second := &site{Server: servertest.Start(t, config(u)), secret: s.secret}
		c := s.config(web, authn.UsersRead, authn.OfflineAccess)
		other := s.signIn(t, c, servertest.Viewer)
		verifier := oauth2.GenerateVerifier()
		code := s.code(t, c, verifier, servertest.Viewer)
		first := second.redeem(t, c, code, verifier)
		first.want(t, "first use", http.StatusOK, "")
		next := s.refresh(t, c, first.text("refresh_token"))
		second.redeem(t, second.config(web), code, verifier).want(t, "second use", http.StatusBadRequest, "invalid_grant")
		for _, token := range []string{first.text("access_token"), next.text("access_token")} {
			if s.works(t, token) {
				t.Error("an access token of the code still works")
			}
		}
		s.refresh(t, c, next.text("refresh_token")).want(t, "its refresh token", http.StatusBadRequest, "invalid_grant")
		if !s.works(t, other.AccessToken) || s.refresh(t, c, other.RefreshToken).Status != http.StatusOK {
			t.Error("the tokens of another sign-in ended too")
		}
	})
}

// TestConcurrentUsesOfCodeLeaveNoTokens uses a code several times at once: one use succeeds,
// and the others end its tokens.
func TestConcurrentUsesOfCodeLeaveNoTokens(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		c := s.config(web, authn.UsersRead, authn.OfflineAccess)
		verifier := oauth2.GenerateVerifier()
		code := s.code(t, c, verifier, servertest.Viewer)
		answers := make([]answer, 4)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() { answers[i] = s.redeem(t, c, code, verifier) })
		}
		all.Wait()
		succeeded := 0
		for _, a := range answers {
			if a.Status == http.StatusOK {
				succeeded++
				if s.works(t, a.text("access_token")) {
					t.Error("the token still works")
				}
				s.refresh(t, c, a.text("refresh_token")).want(t, "refresh", http.StatusBadRequest, "invalid_grant")
			}
		}
		if succeeded != 1 {
			t.Errorf("%d uses succeeded, want 1", succeeded)
		}
	})
}

func TestTokensOfDeletedUserEnd(t *testing.T) {
	s := one(t)
	c := s.config(web, authn.UsersRead, authn.OfflineAccess)
	token := s.signIn(t, c, servertest.Viewer)
	verifier := oauth2.GenerateVerifier()
	code := s.code(t, c, verifier, servertest.Viewer)
	s.deleteUser(t, servertest.Viewer)
	s.redeem(t, c, code, verifier).want(t, "redeem", http.StatusBadRequest, "invalid_grant")
	s.refresh(t, c, token.RefreshToken).want(t, "refresh", http.StatusBadRequest, "invalid_grant")
}

// logOf collects the log of a server.
type logOf struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logOf) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logOf) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestNoSecretIsLogged runs every flow, and looks for what must not be in the log.
func TestNoSecretIsLogged(t *testing.T) {
	log := &logOf{}
	conf := config(storetest.SQLite(t))
	conf.Log = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s := open(t, conf)
	c := s.config(web, authn.UsersRead, authn.OfflineAccess)
	verifier := oauth2.GenerateVerifier()
	id := request(t, c, verifier)
	code := s.approve(t, id, servertest.Viewer, c.Scopes...).Get("code")
	first := s.redeem(t, c, code, verifier)
	second := s.refresh(t, c, first.text("refresh_token"))
	s.Store.Clock.Advance(2 * minute)
	s.refresh(t, c, first.text("refresh_token")).want(t, "reuse", http.StatusBadRequest, "invalid_grant")
	s.redeem(t, c, code, verifier).want(t, "reuse of the code", http.StatusBadRequest, "invalid_grant")
	device := s.post(t, "/oauth2/device_authorization", c, url.Values{"scope": {authn.UsersRead}})
	s.post(t, "/oauth2/revoke", c, url.Values{"token": {second.text("access_token")}})
	s.post(t, "/oauth2/introspect", c, url.Values{"token": {second.text("access_token")}})
	s.redeem(t, &oauth2.Config{ClientID: web, ClientSecret: "wrong" + s.secret}, code, verifier)
	text := log.String()
	for name, secret := range map[string]string{
		"request id": id, "code": code, "verifier": verifier, "client secret": s.secret, "access token": first.text("access_token"),
		"refresh token": first.text("refresh_token"), "device code": device.text("device_code"), "user code": device.text("user_code"),
	} {
		if secret == "" || strings.Contains(text, secret) {
			t.Errorf("the log has the %s %q", name, secret)
		}
	}
	if !strings.Contains(text, `"level":"WARN","msg":"a refresh token was used again`) || !strings.Contains(text, `"code":"INVALID_GRANT"`) {
		t.Errorf("the log says nothing of the second use:\n%s", text)
	}
	if m := s.Metrics(t); !strings.Contains(m, `moderato_requests_total{code="INVALID_GRANT",method="/oauth2/token",transport="rest"}`) {
		t.Error("the metrics do not count the refused requests")
	}
}
