package oauth_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/oauth2"

	"github.com/moderato-live/moderato/ent/authorization"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

func authorizeQuery() url.Values {
	return url.Values{
		"response_type": {"code"}, "client_id": {web}, "redirect_uri": {callback}, "scope": {authn.UsersRead}, "state": {"a&b=c"},
		"code_challenge": {challenge}, "code_challenge_method": {"S256"},
	}
}

// TestAuthorizeNeverRedirectsToUnknownPlaces checks that an unknown client or redirect URI
// gets a page: otherwise the server would send browsers anywhere.
func TestAuthorizeNeverRedirectsToUnknownPlaces(t *testing.T) {
	s := one(t)
	for name, change := range map[string]url.Values{
		"no client":              {"client_id": nil},
		"unknown client":         {"client_id": {"nobody"}},
		"another case":           {"client_id": {"Web-App"}},
		"two clients":            {"client_id": {web, web}},
		"no redirect URI":        {"redirect_uri": nil},
		"two redirect URIs":      {"redirect_uri": {callback, callback}},
		"a slash more":           {"redirect_uri": {callback + "/"}},
		"a query more":           {"redirect_uri": {callback + "?x"}},
		"a fragment":             {"redirect_uri": {callback + "#x"}},
		"a part of the path":     {"redirect_uri": {"https://app.example.com/"}},
		"a longer path":          {"redirect_uri": {callback + "/../x"}},
		"a longer host":          {"redirect_uri": {"https://app.example.com.evil.example/callback"}},
		"a user name":            {"redirect_uri": {"https://app.example.com@evil.example/callback"}},
		"another scheme":         {"redirect_uri": {"http://app.example.com/callback"}},
		"a port":                 {"redirect_uri": {"https://app.example.com:8443/callback"}},
		"capitals":               {"redirect_uri": {"https://APP.example.com/callback"}},
		"an escape":              {"redirect_uri": {"https://app.example.com/%63allback"}},
		"escaped twice":          {"redirect_uri": {url.QueryEscape(callback)}},
		"a script":               {"redirect_uri": {"javascript:alert(1)"}},
		"a line":                 {"redirect_uri": {callback + "\r\nX: y"}},
		"loopback, another path": {"client_id": {native}, "redirect_uri": {"http://127.0.0.1:5000/other"}},
		"loopback, another host": {"client_id": {native}, "redirect_uri": {"http://[::1]:5000/cb"}},
		"loopback by name":       {"client_id": {native}, "redirect_uri": {"http://localhost:5000/cb"}},
		"loopback, https":        {"client_id": {native}, "redirect_uri": {"https://127.0.0.1:5000/cb"}},
		"loopback in a name":     {"client_id": {native}, "redirect_uri": {"http://127.0.0.1.evil.example/cb"}},
		"loopback as a user":     {"client_id": {native}, "redirect_uri": {"http://127.0.0.1:80@evil.example/cb"}},
		"a port that is none":    {"client_id": {native}, "redirect_uri": {"http://127.0.0.1:x/cb"}},
	} {
		query := authorizeQuery()
		for parameter, values := range change {
			query[parameter] = values
		}
		response, err := browser.Get(s.url("/oauth2/authorize?" + query.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusBadRequest || response.Header.Get("Location") != "" ||
			!strings.HasPrefix(response.Header.Get("Content-Type"), "text/html") || response.Header.Get("Access-Control-Allow-Origin") != "" ||
			!strings.Contains(response.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
			t.Errorf("%s: got %d %v, want a page with an error", name, response.StatusCode, response.Header)
		}
	}
	if n := storetest.Must(s.Store.Read.Authorization.Query().Count(context.Background())); n != 0 {
		t.Errorf("%d requests were stored, want none", n)
	}
}

// TestAuthorizeNamesRedirectURI checks that the developer of a client sees which redirect URI
// is not registered.
func TestAuthorizeNamesRedirectURI(t *testing.T) {
	t.Parallel()
	s := one(t)
	query := authorizeQuery()
	for uri, want := range map[string]string{
		callback + "/<b>":                   "redirect_uri " + callback + "/&lt;b&gt;. The application",
		"":                                  "redirect_uri is missing",
		callback + strings.Repeat("/", 200): "is not registered (redirect_uri).",
		"a-secret-by-mistake":               "is not registered (redirect_uri).",
	} {
		query.Set("redirect_uri", uri)
		response, err := browser.Get(s.url("/oauth2/authorize?" + query.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || !strings.Contains(string(page), want) || !strings.Contains(string(page), "--redirect-uri") {
			t.Errorf("%q: got %s, want %q in it (%v)", uri, page, want, err)
		}
	}
}

// TestAuthorizeShowsPageForDamagedQuery checks that a person sees a page also when the query
// cannot be parsed.
func TestAuthorizeShowsPageForDamagedQuery(t *testing.T) {
	t.Parallel()
	s := one(t)
	for _, damage := range []string{"&a=%zz", ";a=b", "&%"} {
		response, err := browser.Get(s.url("/oauth2/authorize?" + authorizeQuery().Encode() + damage))
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusBadRequest || !strings.HasPrefix(response.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%q: got %d %v, want a page with an error", damage, response.StatusCode, response.Header)
		}
	}
}

// TestAuthorizeErrorsReturnToClient checks the errors that the client learns, with its state
// and the server's name.
func TestAuthorizeErrorsReturnToClient(t *testing.T) {
	s := one(t)
	for name, c := range map[string]struct {
		change url.Values
		want   string
	}{
		"no PKCE":              {url.Values{"code_challenge": nil, "code_challenge_method": nil}, "invalid_request"},
		"plain PKCE":           {url.Values{"code_challenge_method": {"plain"}}, "invalid_request"},
		"no method, is plain":  {url.Values{"code_challenge_method": nil}, "invalid_request"},
		"a short challenge":    {url.Values{"code_challenge": {"abc"}}, "invalid_request"},
		"a padded challenge":   {url.Values{"code_challenge": {challenge + "="}}, "invalid_request"},
		"no response type":     {url.Values{"response_type": nil}, "invalid_request"},
		"an implicit flow":     {url.Values{"response_type": {"token"}}, "unsupported_response_type"},
		"a hybrid flow":        {url.Values{"response_type": {"code id_token"}}, "unsupported_response_type"},
		"the fragment":         {url.Values{"response_mode": {"fragment"}}, "invalid_request"},
		"a request object":     {url.Values{"request": {"x"}}, "request_not_supported"},
		"no scope":             {url.Values{"scope": nil}, "invalid_scope"},
		"unknown scope":        {url.Values{"scope": {"users.read admin"}}, "invalid_scope"},
		"another client's":     {url.Values{"client_id": {"narrow"}, "scope": {authn.ChannelModerate}}, "invalid_scope"},
		"a repeated parameter": {url.Values{"scope": {authn.UsersRead, authn.UsersBot}}, "invalid_request"},
		"a long state":         {url.Values{"state": {strings.Repeat("x", 2049)}}, "invalid_request"},
	} {
		s.client(t, &platformv1.ClientRecord{Id: "narrow", Name: "Narrow", RedirectUris: []string{callback}, Scopes: []string{authn.UsersRead}})
		query := authorizeQuery()
		for parameter, values := range c.change {
			query[parameter] = values
		}
		status, to := visit(t, s.url("/oauth2/authorize?"+query.Encode()))
		got := to.Query()
		if status != http.StatusFound || !strings.HasPrefix(to.String(), callback+"?") || got.Get("error") != c.want ||
			got.Get("state") != query.Get("state") || got.Get("iss") != s.url("") || got.Get("code") != "" {
			t.Errorf("%s: got %d and %s, want %s", name, status, to, c.want)
		}
	}
	if n := storetest.Must(s.Store.Read.Authorization.Query().Count(context.Background())); n != 0 {
		t.Errorf("%d requests were stored, want none", n)
	}
}

func TestAuthorizeAcceptsRegisteredRedirectURIs(t *testing.T) {
	s := one(t)
	for client, uris := range map[string][]string{
		web:    {callback, callback + "?a=b"},
		native: {"http://127.0.0.1/cb", "http://127.0.0.1:1/cb", "http://127.0.0.1:65535/cb", "com.example.app:/cb"},
	} {
		for _, uri := range uris {
			c := s.config(client, authn.UsersRead)
			c.RedirectURL = uri
			id := request(t, c, oauth2.GenerateVerifier())
			r, err := s.platform.Deny(s.service.Context(), &platformv1.DenyRequest{RequestId: id})
			separator := "?"
			if strings.Contains(uri, "?") {
				separator = "&"
			}
			if err != nil || !strings.HasPrefix(r.GetRedirectTo(), uri+separator) || !strings.Contains(r.GetRedirectTo(), "error=access_denied") {
				t.Errorf("%s: got %v, %v", uri, r, err)
			}
		}
	}
}

func TestHeadOfAuthorizeStoresNothing(t *testing.T) {
	s := one(t)
	response, err := browser.Head(s.url("/oauth2/authorize?" + authorizeQuery().Encode()))
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if n := storetest.Must(s.Store.Read.Authorization.Query().Count(context.Background())); n != 0 {
		t.Errorf("%d requests were stored, want none", n)
	}
}

func TestWithoutSignInPageNobodySignsIn(t *testing.T) {
	s := open(t, servertest.Config(storetest.SQLite(t)))
	status, _ := visit(t, s.url("/oauth2/authorize?"+authorizeQuery().Encode()))
	device := s.post(t, "/oauth2/device_authorization", s.config(native), url.Values{"scope": {authn.UsersRead}})
	page, _ := visit(t, s.url("/demo/sign-in"))
	if status != http.StatusServiceUnavailable || device.Status != http.StatusServiceUnavailable || page != http.StatusNotFound {
		t.Errorf("authorize: %d, device: %v, the demo's page: %d", status, device, page)
	}
}

func TestMetadata(t *testing.T) {
	s := one(t)
	r := s.Request(t, servertest.Credentials{}, "GET", "/.well-known/oauth-authorization-server", "")
	r.Host = "api.example.com"
	r.Header.Set("X-Forwarded-Proto", "https")
	r.Header.Set("Origin", "https://spa.example.com")
	a := send(t, r)
	for name, want := range map[string]string{
		"issuer": "", "authorization_endpoint": "/oauth2/authorize", "token_endpoint": "/oauth2/token", "revocation_endpoint": "/oauth2/revoke",
		"introspection_endpoint": "/oauth2/introspect", "device_authorization_endpoint": "/oauth2/device_authorization",
	} {
		if a.text(name) != "https://api.example.com"+want {
			t.Errorf("%s: got %v", name, a.Body[name])
		}
	}
	if a.Body["authorization_response_iss_parameter_supported"] != true || a.Body["jwks_uri"] != nil || a.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("got %v %v", a.Header, a.Body)
	}
}

func TestCORS(t *testing.T) {
	s := one(t)
	for path, isAllowed := range map[string]bool{
		"/oauth2/token": true, "/oauth2/revoke": true, "/oauth2/device_authorization": true, "/bapi/oauth2/token": true, "/bapi/oauth2/refresh": true,
		"/bapi/oauth2/generate-auth-url": true, "/oauth2/authorize": false, "/oauth2/introspect": false,
	} {
		r := s.Request(t, servertest.Credentials{}, http.MethodOptions, path, "")
		r.Header.Set("Origin", "https://spa.example.com")
		r.Header.Set("Access-Control-Request-Method", "POST")
		if got := s.Do(t, r).Header.Get("Access-Control-Allow-Origin"); (got != "") != isAllowed {
			t.Errorf("%s: Access-Control-Allow-Origin is %q, want some: %t", path, got, isAllowed)
		}
	}
}

// TestLimits checks that neither a client nor an address may make more requests than
// configured, and that nobody can use up the limit of another's client.
func TestLimits(t *testing.T) {
	c := config(storetest.SQLite(t))
	c.RateLimit = 20
	s := open(t, c)
	from := func(address string, c *oauth2.Config, path string, form url.Values) answer {
		form.Set("client_id", c.ClientID)
		form.Set("client_secret", c.ClientSecret)
		r, _ := http.NewRequest(http.MethodPost, s.url(path), strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("X-Forwarded-For", "203.0.113.9, "+address)
		return send(t, r)
	}
	wrong := s.config(web)
	wrong.ClientSecret = "wrong"
	form := func() url.Values { return url.Values{"token": {"x"}} }
	for range 20 {
		from("198.51.100.1", wrong, "/oauth2/revoke", form())
	}
	if a := from("198.51.100.1", wrong, "/oauth2/revoke", form()); a.Status != http.StatusTooManyRequests || a.Header.Get("Retry-After") == "" {
		t.Errorf("one more from the address: got %d %v", a.Status, a.Header)
	}
	for i := range 21 { // from an address each
		a := from("198.51.100."+string(rune('2'+i%8)), s.config(web), "/oauth2/revoke", form())
		if (a.Status == http.StatusTooManyRequests) != (i == 20) {
			t.Errorf("request %d of the client: got %d", i, a.Status)
		}
	}
	for range 21 {
		from("203.0.113.1", s.config(native), "/oauth2/revoke", form())
	}
	if a := from("203.0.113.2", s.config(native), "/oauth2/revoke", form()); a.Status != http.StatusOK {
		t.Errorf("a public client, of which another address asked too often: got %d", a.Status)
	}
	if a := from("198.51.100.2", s.config(rival), "/oauth2/revoke", form()); a.Status != http.StatusOK {
		t.Errorf("another client: got %d", a.Status)
	}
	for i := range 3 { // what stores rows has a tenth
		status, _ := visit(t, s.url("/oauth2/authorize?"+authorizeQuery().Encode()))
		if (status == http.StatusTooManyRequests) != (i == 2) {
			t.Errorf("sign-in %d: got %d", i, status)
		}
	}
}

// TestOtherParametersAreIgnored checks that secrets in URLs, which end up in logs, do not
// work, and that a body has one form only.
func TestOtherParametersAreIgnored(t *testing.T) {
	s := one(t)
	query := url.Values{"client_id": {web}, "client_secret": {s.secret}, "grant_type": {"client_credentials"}}
	s.post(t, "/oauth2/token?"+query.Encode(), nil, url.Values{"grant_type": {"client_credentials"}}).
		want(t, "in the URL", http.StatusBadRequest, "invalid_request")
	s.post(t, "/oauth2/token", s.config(web), url.Values{"grant_type": {"client_credentials", "client_credentials"}}).
		want(t, "repeated", http.StatusBadRequest, "invalid_request")
	r := s.Request(t, servertest.Credentials{}, http.MethodPost, "/oauth2/token", `{"grant_type":"client_credentials"}`)
	if got := s.Do(t, r); got.Status != http.StatusBadRequest {
		t.Errorf("JSON: got %d %s", got.Status, got.Body)
	}
	if got := s.REST(t, servertest.Credentials{}, http.MethodGet, "/oauth2/token", ""); got.Status != http.StatusMethodNotAllowed || got.Header.Get("Allow") != "POST, OPTIONS" {
		t.Errorf("GET: got %d %v", got.Status, got.Header)
	}
}

func TestExpiredRowsAreRemoved(t *testing.T) {
	s := one(t)
	ctx := context.Background()
	c := s.config(web, authn.UsersRead, authn.OfflineAccess)
	request(t, c, oauth2.GenerateVerifier())
	s.signIn(t, c, servertest.Viewer)
	s.Store.Clock.Advance(21 * minute)
	run(t, s)
	if rows := storetest.Must(s.Store.Read.Authorization.Query().All(ctx)); len(rows) != 1 || rows[0].Status != "redeemed" {
		t.Errorf("after 21 minutes there are %v, want the redeemed one", rows)
	}
	s.Store.Clock.Advance(61 * 24 * 60 * minute)
	run(t, s)
	requests := storetest.Must(s.Store.Read.Authorization.Query().Where(authorization.StatusNEQ("x")).Count(ctx))
	if refreshing := storetest.Must(s.Store.Read.RefreshToken.Query().Count(ctx)); requests+refreshing != 0 {
		t.Errorf("after 61 days there are %d requests and %d refresh tokens", requests, refreshing)
	}
}

// TestWrongCredentialsAreCheckedAtABoundedRate guesses the secret of a client. The attempts of an
// address without failures are checked.
func TestWrongCredentialsAreCheckedAtABoundedRate(t *testing.T) {
	c := config(storetest.SQLite(t))
	c.RateLimit = 0
	s := open(t, c)
	attempt := func(address, secret, path, body, contentType string) int {
		r, _ := http.NewRequest(http.MethodPost, s.url(path), strings.NewReader(strings.ReplaceAll(body, "SECRET", secret)))
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("X-Forwarded-For", address)
		return send(t, r).Status
	}
	for path, c := range map[string]struct{ address, body, contentType string }{
		"/oauth2/revoke":       {"198.51.100.", "client_id=web-app&client_secret=SECRET&token=x", "application/x-www-form-urlencoded"},
		"/bapi/oauth2/refresh": {"203.0.113.", `{"clientId":"web-app","clientSecret":"SECRET","refreshToken":"x"}`, "application/json"},
	} {
		got := map[int]int{}
		for range 150 {
			got[attempt(c.address+"1", "wrong", path, c.body, c.contentType)]++
		}
		if got[http.StatusUnauthorized] < 100 || got[http.StatusTooManyRequests] == 0 {
			t.Errorf("%s: got %v", path, got)
		}
		if got := attempt(c.address+"1", s.secret, path, c.body, c.contentType); got != http.StatusTooManyRequests {
			t.Errorf("%s: the right secret from this address: got %d", path, got)
		}
		if got := attempt(c.address+"2", s.secret, path, c.body, c.contentType); got == http.StatusTooManyRequests || got == http.StatusUnauthorized {
			t.Errorf("%s: from another address: got %d", path, got)
		}
	}
}
