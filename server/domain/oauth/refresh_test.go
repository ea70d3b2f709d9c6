package oauth_test

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/moderato-live/moderato/ent/refreshtoken"
	"github.com/moderato-live/moderato/ent/webhook"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

func (s *site) deleteUser(t *testing.T, id uid.ID) {
	t.Helper()
	if _, err := s.Directory.DeleteUser(s.service.Context(), &platformv1.DeleteUserRequest{UserId: id.String()}); err != nil {
		t.Fatal(err)
	}
}

func TestRefreshTokenRotates(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		c := s.config(web, authn.UsersRead, authn.OfflineAccess)
		first := s.signIn(t, c, servertest.Viewer).RefreshToken
		s.refresh(t, s.config(rival), first).want(t, "another client", http.StatusBadRequest, "invalid_grant")
		s.refresh(t, c, first[:len(first)-1]+"-").want(t, "damaged", http.StatusBadRequest, "invalid_grant")
		second := s.refresh(t, c, first)
		second.want(t, "first use", http.StatusOK, "")
		s.Store.Clock.Advance(59 * time.Second)
		again := s.refresh(t, c, first)
		again.want(t, "a second use after 59 s", http.StatusOK, "")
		for name, a := range map[string]answer{"the first": second, "the second": again} {
			if !s.works(t, a.text("access_token")) {
				t.Errorf("the access token of %s refresh does not work", name)
			}
			s.refresh(t, c, a.text("refresh_token")).want(t, "the refresh token of "+name+" refresh", http.StatusOK, "")
		}
		s.Store.Clock.Advance(time.Second)
		s.refresh(t, c, first).want(t, "a use after 60 s", http.StatusBadRequest, "invalid_grant")
		for _, a := range []answer{second, again} {
			if s.works(t, a.text("access_token")) {
				t.Error("an access token of the family still works")
			}
			s.refresh(t, c, a.text("refresh_token")).want(t, "a refresh token of the family", http.StatusBadRequest, "invalid_grant")
		}
	})
}

// TestConcurrentRefreshes lets a client refresh several times at the same moment, as clients
// with several tabs do: all get tokens that work.
func TestConcurrentRefreshes(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		c := s.config(native, authn.UsersRead, authn.OfflineAccess)
		token := s.signIn(t, c, servertest.Viewer).RefreshToken
		answers := make([]answer, 6)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() { answers[i] = s.refresh(t, c, token) })
		}
		all.Wait()
		for _, a := range answers {
			a.want(t, "a refresh", http.StatusOK, "")
			if !s.works(t, a.text("access_token")) {
				t.Error("an access token does not work")
			}
		}
		if rows := storetest.Must(s.Store.Read.RefreshToken.Query().Where(refreshtoken.ReplacedAtIsNil()).All(t.Context())); len(rows) != 2 {
			t.Errorf("%d refresh tokens can be used, want 2", len(rows))
		}
	})
}

// TestThirdUseReplacesUnusedSuccessor uses a refresh token several times within the grace, as
// somebody else who has the token might. No third chain of tokens begins, and the use of one
// that ended ends all.
func TestThirdUseReplacesUnusedSuccessor(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		c := s.config(web, authn.UsersRead, authn.OfflineAccess)
		use := func(text string) string {
			t.Helper()
			a := s.refresh(t, c, text)
			a.want(t, "a use", http.StatusOK, "")
			return a.text("refresh_token")
		}
		refused := func(what, text string) {
			t.Helper()
			s.refresh(t, c, text).want(t, what, http.StatusBadRequest, "invalid_grant")
		}
		begin := func() (token, earlier, latest string) {
			token = s.signIn(t, c, servertest.Viewer).RefreshToken
			return token, use(token), use(token)
		}

		token, first, second := begin()
		third := use(token)
		second, third = use(second), use(third)
		refused("the replaced successor", first)
		refused("the second chain, after it", second)
		refused("the third chain, after it", third)

		token, first, second = begin()
		next := use(first) // so that the second is the one that was not used
		third = use(token)
		next = use(next)
		use(third)
		refused("the replaced successor", second)
		refused("the first chain, after it", next)

		token, first, second = begin()
		first, second = use(first), use(second)
		refused("a third use after both successors were used", token)
		use(first)
		use(second)
	})
}

func TestRefreshTokenExpiresWithoutUse(t *testing.T) {
	s := one(t)
	c := s.config(web, authn.UsersRead, authn.OfflineAccess)
	token := s.signIn(t, c, servertest.Viewer).RefreshToken
	s.Store.Clock.Advance(60*24*time.Hour - minute)
	next := s.refresh(t, c, token)
	next.want(t, "a minute before the end", http.StatusOK, "")
	s.Store.Clock.Advance(59 * 24 * time.Hour)
	next = s.refresh(t, c, next.text("refresh_token"))
	next.want(t, "59 days after a use", http.StatusOK, "")
	s.Store.Clock.Advance(60 * 24 * time.Hour)
	s.refresh(t, c, next.text("refresh_token")).want(t, "60 days after a use", http.StatusBadRequest, "invalid_grant")
}

func TestRefreshNeverAddsScopes(t *testing.T) {
	s := one(t)
	c := s.config(web, authn.UsersRead, authn.UsersBot, authn.OfflineAccess)
	token := s.signIn(t, c, servertest.Raider).RefreshToken
	with := func(scope string) answer {
		return s.post(t, "/oauth2/token", c, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}, "scope": {scope}})
	}
	with("users.read channel.moderate").want(t, "a further scope", http.StatusBadRequest, "invalid_scope")
	if got := with("users.read"); got.text("scope") != "users.read" {
		t.Errorf("narrowed: got %v", got.Body)
	}
	if got := with(""); got.text("scope") != "offline.access users.bot users.read" {
		t.Errorf("after a narrowed one: got %v, want all", got.Body)
	}
	// What the platform takes from the grant, and what the client loses, ends as well.
	s.grant(t, servertest.Raider, authn.UsersRead, authn.OfflineAccess)
	if got := with(""); got.text("scope") != "offline.access users.read" {
		t.Errorf("with a smaller grant: got %v", got.Body)
	}
	s.client(t, &platformv1.ClientRecord{Id: web, Name: "Web app", RedirectUris: []string{callback}, Scopes: []string{authn.UsersRead}})
	c.ClientSecret = s.client(t, &platformv1.ClientRecord{Id: web, Name: "Web app", RedirectUris: []string{callback}, Scopes: []string{authn.UsersRead}})
	with("").want(t, "without offline.access", http.StatusBadRequest, "invalid_grant")
}

// TestRefreshForWithdrawnScopesIsRefused asks for scopes all of which the grant has lost.
// The refresh token stays as it is.
func TestRefreshForWithdrawnScopesIsRefused(t *testing.T) {
	s := one(t)
	c := s.config(web, authn.UsersRead, authn.UsersBot, authn.OfflineAccess)
	token := s.signIn(t, c, servertest.Raider).RefreshToken
	with := func(scope string) answer {
		return s.post(t, "/oauth2/token", c, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}, "scope": {scope}})
	}
	s.grant(t, servertest.Raider, authn.UsersRead, authn.OfflineAccess)
	with("users.bot").want(t, "a withdrawn scope", http.StatusBadRequest, "invalid_scope")
	if rows := storetest.Must(s.Store.Read.RefreshToken.Query().All(t.Context())); len(rows) != 1 || rows[0].ReplacedAt != nil {
		t.Errorf("the refresh tokens are %v, want the first one, unused", rows)
	}
	if got := with("users.bot users.read"); got.Status != http.StatusOK || got.text("scope") != "users.read" {
		t.Errorf("with another one: got %d %v", got.Status, got.Body)
	}
}

// grant sets the scopes that a user grants to the client web.
func (s *site) grant(t *testing.T, user uid.ID, scopes ...string) {
	t.Helper()
	_, err := s.Access.PutGrant(s.service.Context(), &platformv1.PutGrantRequest{Grant: &platformv1.GrantRecord{
		ClientId: web, UserId: user.String(), Scopes: scopes,
	}})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRevocation(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		c := s.config(web, authn.UsersRead, authn.OfflineAccess)
		one, two := s.signIn(t, c, servertest.Viewer), s.signIn(t, c, servertest.Viewer)
		revoke := func(token string) answer { return s.post(t, "/oauth2/revoke", c, url.Values{"token": {token}}) }
		foreign := s.post(t, "/oauth2/revoke", s.config(rival), url.Values{"token": {one.RefreshToken}})
		foreign.want(t, "by another client", http.StatusBadRequest, "unauthorized_client")
		foreign = s.post(t, "/oauth2/revoke", s.config(rival), url.Values{"token": {one.AccessToken}})
		foreign.want(t, "by another client", http.StatusBadRequest, "unauthorized_client")
		if !s.works(t, one.AccessToken) {
			t.Error("another client revoked a token")
		}
		revoke(one.AccessToken).want(t, "an access token", http.StatusOK, "")
		if s.works(t, one.AccessToken) || !s.works(t, two.AccessToken) {
			t.Error("want the one access token revoked")
		}
		next := s.refresh(t, c, one.RefreshToken)
		revoke(next.text("refresh_token")).want(t, "a refresh token", http.StatusOK, "")
		if s.works(t, next.text("access_token")) {
			t.Error("the access token of a revoked family still works")
		}
		s.refresh(t, c, one.RefreshToken).want(t, "its family", http.StatusBadRequest, "invalid_grant")
		s.refresh(t, c, two.RefreshToken).want(t, "another family", http.StatusOK, "")
		revoke("mdr_nonsense").want(t, "nonsense", http.StatusOK, "")
		revoke(one.RefreshToken).want(t, "again", http.StatusOK, "")
	})
}

func TestIntrospection(t *testing.T) {
	s := one(t)
	c := s.config(web, authn.UsersRead, authn.OfflineAccess)
	token := s.signIn(t, c, servertest.Viewer)
	ask := func(id string, text string) answer {
		return s.post(t, "/oauth2/introspect", s.config(id), url.Values{"token": {text}})
	}
	got := ask(web, token.AccessToken)
	if got.Body["active"] != true || got.text("sub") != servertest.Viewer.String() || got.text("client_id") != web || got.text("scope") != "offline.access users.read" {
		t.Errorf("got %v", got.Body)
	}
	if got := ask(web, token.RefreshToken); got.Body["active"] != true {
		t.Errorf("a refresh token: got %v", got.Body)
	}
	for name, a := range map[string]answer{
		"another's token": ask(rival, token.AccessToken), "another's refresh token": ask(rival, token.RefreshToken), "nonsense": ask(web, "nonsense"),
	} {
		if a.Status != http.StatusOK || len(a.Body) != 1 || a.Body["active"] != false {
			t.Errorf("%s: got %d %v, want only that it is not active", name, a.Status, a.Body)
		}
	}
	if a := ask(native, token.AccessToken); a.text("error") != "invalid_client" {
		t.Errorf("a public client: got %d %v", a.Status, a.Body)
	}
}

// TestIntrospectionOfRefreshTokenIsWhatARefreshGives asks about a refresh token after the
// grant or the client has lost scopes, and compares with what a refresh then gives.
func TestIntrospectionOfRefreshTokenIsWhatARefreshGives(t *testing.T) {
	s := one(t)
	s.Load(t, &platformv1.Record{Kind: &platformv1.Record_Client{Client: &platformv1.ClientRecord{Id: "backend", Name: "Backend", Service: true}}})
	backend := s.config("backend")
	backend.ClientSecret = s.client(t, &platformv1.ClientRecord{Id: "backend", Name: "Backend", Service: true})
	c := s.config(web, authn.UsersRead, authn.UsersBot, authn.OfflineAccess)
	clientHas := func(scopes ...string) {
		c.ClientSecret = s.client(t, &platformv1.ClientRecord{Id: web, Name: "Web app", RedirectUris: []string{callback}, Scopes: scopes})
	}
	all := c.Scopes
	for _, step := range []struct {
		name string
		lose func()
		want string // the scope; empty if the token is not active
	}{
		{"nothing", func() {}, "offline.access users.bot users.read"},
		{"a scope of the grant", func() { s.grant(t, servertest.Raider, authn.UsersRead, authn.OfflineAccess) }, "offline.access users.read"},
		{"offline.access of the grant", func() { s.grant(t, servertest.Raider, authn.UsersRead, authn.UsersBot) }, ""},
		{"all scopes of the grant", func() { s.grant(t, servertest.Raider) }, ""},
		{"a scope of the client", func() { clientHas(authn.OfflineAccess, authn.UsersBot) }, "offline.access users.bot"},
		{"offline.access of the client", func() { clientHas(authn.UsersRead, authn.UsersBot) }, ""},
		{"the user", func() { s.deleteUser(t, servertest.Raider) }, ""}, // the last one
	} {
		clientHas(all...)
		token := s.signIn(t, c, servertest.Raider).RefreshToken
		step.lose()
		for by, asking := range map[string]*oauth2.Config{"the client": c, "a service client": backend} {
			got := s.post(t, "/oauth2/introspect", asking, url.Values{"token": {token}})
			if got.Status != http.StatusOK || got.Body["active"] != (step.want != "") || got.text("scope") != step.want || (step.want == "" && len(got.Body) != 1) {
				t.Errorf("without %s, %s asks: got %d %v, want the scope %q", step.name, by, got.Status, got.Body, step.want)
			}
		}
		if got := s.refresh(t, c, token); (got.Status == http.StatusOK) != (step.want != "") || got.text("scope") != step.want {
			t.Errorf("without %s: a refresh gives %d %v, want the scope %q", step.name, got.Status, got.Body, step.want)
		}
	}
}

// TestRevokedGrantEndsTokens checks that a user who takes back an approval ends every token
// of the client, the code under way, and nobody else's.
func TestRevokedGrantEndsTokens(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		c := s.config(web, authn.UsersRead, authn.OfflineAccess)
		mine, others := s.signIn(t, c, servertest.Viewer), s.signIn(t, c, servertest.Owner)
		direct := s.Token(t, authn.NewToken{Kind: authn.User, ClientID: web, UserID: servertest.Viewer, Scopes: authn.Scopes(), Lifetime: time.Hour})
		elsewhere := s.signIn(t, s.config(rival, authn.UsersRead), servertest.Viewer)
		const verifier = "0123456789012345678901234567890123456789012"
		code := s.code(t, c, verifier, servertest.Viewer)
		viewer := s.As(t, servertest.Viewer)
		hook := s.REST(t, servertest.Credentials{Token: direct.Token, ClientID: web}, http.MethodPost, "/v1/webhooks",
			`{"channelId":"`+servertest.Owner.String()+`","url":"https://hooks.example.com/x","type":["stream.online"]}`)
		if hook.Status != http.StatusOK {
			t.Fatalf("create a webhook: %d %s", hook.Status, hook.Body)
		}
		for range 2 { // the second time changes nothing
			if r := s.REST(t, viewer, http.MethodDelete, "/v1/users/grants", `{"clientId":"web-app"}`); r.Status != http.StatusOK {
				t.Fatalf("got %d %s", r.Status, r.Body)
			}
		}
		for name, token := range map[string]string{"sign-in": mine.AccessToken, "platform": direct.Token} {
			if s.works(t, token) {
				t.Errorf("the token of the %s still works", name)
			}
		}
		if left := storetest.Must(s.Store.Read.Webhook.Query().Where(webhook.ClientID(web), webhook.DisabledReasonNEQ("deleted")).Count(t.Context())); left != 0 {
			t.Error("a webhook that the client created for the user remains")
		}
		s.refresh(t, c, mine.RefreshToken).want(t, "refresh", http.StatusBadRequest, "invalid_grant")
		s.redeem(t, c, code, verifier).want(t, "the code under way", http.StatusBadRequest, "invalid_grant")
		s.signIn(t, c, servertest.Viewer) // a new approval does not revive the code
		s.redeem(t, c, code, verifier).want(t, "the code, after a new approval", http.StatusBadRequest, "invalid_grant")
		s.REST(t, viewer, http.MethodDelete, "/v1/users/grants", `{"clientId":"web-app"}`)
		if !s.works(t, others.AccessToken) || !s.works(t, elsewhere.AccessToken) || s.refresh(t, c, others.RefreshToken).Status != http.StatusOK {
			t.Error("tokens of another user or client ended")
		}
		if got := s.REST(t, viewer, http.MethodGet, "/v1/users/grants", ""); got.Body !=
			`{"success":true,"message":"success","data":[{"clientId":"dashboard","clientName":"Dashboard","scopes":["users.read"]},`+
				`{"clientId":"rival-app","clientName":"Rival","scopes":["users.read"]}]}` {
			t.Errorf("the grants are %s", got.Body)
		}
	})
}

// TestCodeNeedsGrant checks that a code is of no use once the platform has taken its scopes
// from the grant.
func TestCodeNeedsGrant(t *testing.T) {
	s := one(t)
	c := s.config(web, authn.UsersRead, authn.UsersBot)
	const verifier = "0123456789012345678901234567890123456789012"
	code := s.code(t, c, verifier, servertest.Raider)
	s.grant(t, servertest.Raider, authn.UsersRead)
	s.redeem(t, c, code, verifier).want(t, "redeem", http.StatusBadRequest, "invalid_grant")
}

// TestRevocationOfGrantRacesRefreshes checks that no refresh that runs at the same moment
// leaves a token behind.
func TestRevocationOfGrantRacesRefreshes(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		c := s.config(web, authn.UsersRead, authn.OfflineAccess)
		viewer := s.As(t, servertest.Viewer)
		for range 3 {
			token := s.signIn(t, c, servertest.Viewer)
			answers := make([]answer, 4)
			var all sync.WaitGroup
			for i := range answers {
				all.Go(func() { answers[i] = s.refresh(t, c, token.RefreshToken) })
			}
			all.Go(func() { s.REST(t, viewer, http.MethodDelete, "/v1/users/grants", `{"clientId":"web-app"}`) })
			all.Wait()
			for _, a := range append(answers, answer{Body: map[string]any{"access_token": token.AccessToken}}) {
				if text := a.text("access_token"); text != "" && s.works(t, text) {
					t.Error("a token outlives the grant")
				}
			}
			if n := storetest.Must(s.Store.Read.RefreshToken.Query().Count(context.Background())); n != 0 {
				t.Errorf("%d refresh tokens outlive the grant", n)
			}
		}
	})
}
