package oauth_test

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/oauth2"

	"context"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/application"
	"github.com/moderato-live/moderato/gateway/signin"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/domain/access"
	"github.com/moderato-live/moderato/server/domain/importer"
	"github.com/moderato-live/moderato/server/domain/oauth"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

const publicURL = "https://moderato.example.com"

// consoleSite is a server whose console users can sign in to, on the platform's page.
func consoleSite(t *testing.T) *site {
	t.Helper()
	c := config(storetest.SQLite(t))
	c.PublicURL = publicURL
	return open(t, c)
}

func (s *site) consoleConfig(origin string) *oauth2.Config {
	c := s.config(access.Console, authn.UsersRead, authn.ChannelModerate, authn.UsersBot, authn.OfflineAccess)
	c.RedirectURL, c.Endpoint.AuthStyle = origin+"/console/", oauth2.AuthStyleInParams
	return c
}

// TestConsoleSignsIn signs a user in as the console does: without a secret, up to a second pair
// of tokens.
func TestConsoleSignsIn(t *testing.T) {
	t.Parallel()
	s := consoleSite(t)
	c := s.consoleConfig(publicURL)
	verifier := oauth2.GenerateVerifier()
	back := s.approve(t, request(t, c, verifier), servertest.Owner, c.Scopes...)
	token, err := c.Exchange(t.Context(), back.Get("code"), oauth2.VerifierOption(verifier))
	if err != nil || token.RefreshToken == "" {
		t.Fatalf("got %+v, %v", token, err)
	}
	s.refresh(t, c, token.RefreshToken).want(t, "the refresh token", http.StatusOK, "")
	answer := s.bapi(t, "generate-auth-url", map[string]any{"clientId": access.Console, "redirectUri": c.RedirectURL})
	if answer.Status != http.StatusOK {
		t.Errorf("generate-auth-url: got %d", answer.Status)
	}
}

// TestConsoleReturnsToItsServerOnly begins sign-ins of the console that would end elsewhere.
func TestConsoleReturnsToItsServerOnly(t *testing.T) {
	t.Parallel()
	platform, noPublicURL, demo := consoleSite(t), one(t), demoSite(t)
	if err := access.PutConsole(t.Context(), noPublicURL.Store); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, redirectURI, host string
		site                    *site
		want                    int
		text                    string
	}{
		{"its own", publicURL + "/console/", "", platform, http.StatusFound, ""},
		{"another path", publicURL + "/", "", platform, http.StatusBadRequest, publicURL + "/console/"},
		{"without a slash", publicURL + "/console", "", platform, http.StatusBadRequest, ""},
		{"with a query", publicURL + "/console/?x=y", "", platform, http.StatusBadRequest, ""},
		{"another host", "https://evil.example/console/", "", platform, http.StatusBadRequest, ""},
		{"a host that the request names", "http://evil.example/console/", "evil.example", platform, http.StatusBadRequest, ""},
		{"a host that the request names, without a public URL", "http://evil.example/console/", "evil.example", noPublicURL, http.StatusBadRequest, "--public-url"},
		{"the host that was called, without a public URL", noPublicURL.url("/console/"), "", noPublicURL, http.StatusBadRequest, "--public-url"},
		{"none", "", "", platform, http.StatusBadRequest, ""},
		{"a demo's own", demo.url("/console/"), "", demo, http.StatusFound, ""},
		{"another host than the demo's", "http://evil.example/console/", "", demo, http.StatusBadRequest, ""},
	} {
		query := authorizeQuery()
		query.Set("client_id", access.Console)
		query.Set("redirect_uri", c.redirectURI)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.site.url("/oauth2/authorize?"+query.Encode()), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = c.host
		response, err := browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != c.want || !strings.Contains(string(page), c.text) {
			t.Errorf("%s: got %d, want %d and %q in\n%s", c.name, response.StatusCode, c.want, c.text, page)
		}
	}
}

func TestConsoleNeedsPKCEAndItsScopes(t *testing.T) {
	t.Parallel()
	s := consoleSite(t)
	for name, change := range map[string]url.Values{
		"no challenge":    {"code_challenge": nil},
		"a plain one":     {"code_challenge_method": {"plain"}},
		"another scope":   {"scope": {"admin"}},
		"no scope at all": {"scope": nil},
	} {
		query := authorizeQuery()
		query.Set("client_id", access.Console)
		query.Set("redirect_uri", publicURL+"/console/")
		for parameter, values := range change {
			query[parameter] = values
		}
		status, to := visit(t, s.url("/oauth2/authorize?"+query.Encode()))
		if status != http.StatusFound || !strings.HasPrefix(to.String(), publicURL+"/console/?") || to.Query().Get("error") == "" {
			t.Errorf("%s: got %d and %s, want an error for the console", name, status, to)
		}
	}
	s.post(t, "/oauth2/device_authorization", nil, url.Values{"client_id": {access.Console}, "scope": {authn.UsersRead}}).
		want(t, "a device", http.StatusBadRequest, "unauthorized_client")
	s.appToken(t, access.Console, "").want(t, "a token without a user", http.StatusUnauthorized, "invalid_client")
}

// TestClientOfConsoleIsReserved tries to change the client of the console in each way.
func TestClientOfConsoleIsReserved(t *testing.T) {
	u := storetest.SQLite(t)
	c := config(u)
	c.PublicURL = publicURL
	s := open(t, c)
	before := servertest.Dump(t, s.Store, workers...)
	const want = "reserved for the console"
	for _, args := range [][]string{
		{"create", "--id", access.Console, "--name", "Mine", "--public"}, {"update", access.Console, "--redirect-uri", "https://evil.example/"},
		{"delete", access.Console, "--yes"},
	} {
		if code, _, errs := s.commandLine(t, u.Path, append([]string{"client"}, args...)...); code == 0 || !strings.Contains(errs, want) {
			t.Errorf("%q: exit code %d, %s", args, code, errs)
		}
	}
	if code, _, errs := s.commandLine(t, u.Path, "client", "rotate-secret", access.Console); code == 0 || !strings.Contains(errs, "is public") {
		t.Errorf("a secret: exit code %d, %s", code, errs)
	}
	record := &platformv1.ClientRecord{Id: access.Console, Name: "Mine", Public: true, RedirectUris: []string{"https://evil.example/"}}
	_, err := s.Access.PutClient(s.service.Context(), &platformv1.PutClientRequest{Client: record})
	if o := servertest.OutcomeOf(err); o.Reason != "INVALID_ARGUMENT" || len(o.Violations) != 1 || !strings.HasPrefix(o.Violations[0], "client.id") {
		t.Errorf("PutClient: got %+v", o)
	}
	_, err = s.Access.DeleteClient(s.service.Context(), &platformv1.DeleteClientRequest{ClientId: access.Console})
	if o := servertest.OutcomeOf(err); o.Reason != "INVALID_ARGUMENT" || len(o.Violations) != 1 || !strings.HasPrefix(o.Violations[0], "clientId") {
		t.Errorf("DeleteClient: got %+v", o)
	}
	records := importer.Importer{Store: s.Store}
	if err := records.ImportRecords(t.Context(), []*platformv1.Record{{Kind: &platformv1.Record_Client{Client: record}}}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("an import: got %v", err)
	}
	if after := servertest.Dump(t, s.Store, workers...); !slices.Equal(after, before) {
		t.Errorf("a refused change changed rows: %v, before %v", after, before)
	}
}

// TestClientOfConsoleIsAsTheServerNeedsIt starts servers on a database that has the client
// already, or one of another version.
func TestClientOfConsoleIsAsTheServerNeedsIt(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		put := func() {
			t.Helper()
			if err := access.PutConsole(t.Context(), s.Store); err != nil {
				t.Fatal(err)
			}
		}
		find := func() *oauth.Client {
			return storetest.Must((&oauth.Service{Store: s.Store}).Client(t.Context(), access.Console))
		}
		if c := find(); c != nil {
			t.Errorf("a server without a public URL has the client: %+v", c)
		}
		put()
		created := find()
		if created == nil || !created.IsPublic || created.IsService || created.HasRedirectURI(s.url("/console/")) {
			t.Errorf("the client is %+v", created)
		}
		row := s.Store.Read.Application.Query().Where(application.ID(access.Console))
		want := storetest.Must(row.Clone().Only(t.Context()))
		write := func(scopes string) {
			t.Helper()
			err := s.Store.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
				return tx.Application.UpdateOneID(access.Console).SetScopes(scopes).SetRedirectUris("https://evil.example/").Exec(ctx)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		write(authn.UsersRead)
		put()
		if got := storetest.Must(row.Clone().Only(t.Context())); got.String() != want.String() {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// TestHintSignsInToConsoleOfDemo begins sign-ins with the id of a user. Only the console of a
// demo gets a code without a form.
func TestHintSignsInToConsoleOfDemo(t *testing.T) {
	t.Parallel()
	demo := demoSite(t)
	both := servertest.Config(storetest.SQLite(t))
	both.LoginURL, both.PublicURL, both.DemoUsers = loginURL, publicURL, []signin.DemoUser{{ID: servertest.Owner, Name: "Ines", Role: "owner"}}
	owner, verifier := servertest.Owner.String(), oauth2.GenerateVerifier()
	begin := func(c *oauth2.Config, hint string) (int, *url.URL) {
		t.Helper()
		return visit(t, c.AuthCodeURL("st", oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("login_hint", hint)))
	}
	c := demo.consoleConfig(demo.url(""))
	status, to := begin(c, owner)
	if status != http.StatusFound || !strings.HasPrefix(to.String(), c.RedirectURL+"?code=") || to.Query().Get("state") != "st" {
		t.Fatalf("the console: got %d %s, want its code", status, to)
	}
	token := demo.redeem(t, c, to.Query().Get("code"), verifier)
	if row := storetest.Must(authn.Introspect(t.Context(), demo.Store, token.text("access_token"))); row == nil || *row.UserID != servertest.Owner || token.text("refresh_token") == "" {
		t.Errorf("got %v, want tokens of the owner", token.Body)
	}
	platform, mixed := consoleSite(t), open(t, both)
	other := demo.config(native, authn.UsersRead)
	for _, test := range []struct {
		name, hint, want string
		config           *oauth2.Config
	}{
		{"another client", owner, demo.url("/demo/sign-in?"), other},
		{"somebody else", servertest.Moderator.String(), demo.url("/demo/sign-in?"), c},
		{"a platform", owner, loginURL + "&login_hint=" + owner + "&request=", platform.consoleConfig(publicURL)},
		{"a demo with a platform's page", owner, loginURL + "&login_hint=" + owner + "&request=", mixed.consoleConfig(publicURL)},
		{"a long hint", strings.Repeat("x", 300), loginURL + "&request=", platform.consoleConfig(publicURL)},
	} {
		if status, to := begin(test.config, test.hint); status != http.StatusFound || !strings.HasPrefix(to.String(), test.want) {
			t.Errorf("%s: got %d %s, want %s", test.name, status, to, test.want)
		}
	}
	p := newPerson(t)
	_, _ = p.see(p.Get(other.AuthCodeURL("st", oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("login_hint", owner))))
	if _, page := p.submit("user", owner, "action", "sign-in"); !strings.Contains(page, `value="approve"`) {
		t.Errorf("another client: got %s, want the question for consent", page)
	}
}
