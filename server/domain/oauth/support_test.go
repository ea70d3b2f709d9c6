package oauth_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/oauth2"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

const (
	loginURL = "https://platform.example.com/login?lang=en"
	callback = "https://app.example.com/callback"

	web    = "web-app"    // confidential
	rival  = "rival-app"  // confidential, another developer's
	native = "native-app" // public
)

// site is a running server with clients.
type site struct {
	*servertest.Server

	secret, rivalSecret string
	platform            platformv1.AuthorizationServiceClient
	service             servertest.Credentials
}

func config(url store.URL) server.Config {
	c := servertest.Config(url)
	c.LoginURL = loginURL
	c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	return c
}

// each runs a test with a running server on every kind of store.
func each(t *testing.T, test func(t *testing.T, s *site)) {
	t.Helper()
	storetest.EachKind(t, func(t *testing.T, url store.URL) { test(t, open(t, config(url))) })
}

// one runs a server on SQLite, for what does not depend on the store.
func one(t *testing.T) *site {
	t.Helper()
	return open(t, config(storetest.SQLite(t)))
}

func open(t *testing.T, c server.Config) *site {
	t.Helper()
	s := &site{Server: servertest.Start(t, c)}
	s.Load(t, servertest.World()...)
	s.service = s.AsService(t)
	s.secret = s.client(t, &platformv1.ClientRecord{Id: web, Name: "Web app", RedirectUris: []string{callback, callback + "?a=b"}, Scopes: authn.Scopes()})
	s.rivalSecret = s.client(t, &platformv1.ClientRecord{Id: rival, Name: "Rival", RedirectUris: []string{callback}, Scopes: authn.Scopes()})
	s.client(t, &platformv1.ClientRecord{
		Id: native, Name: "Native app", RedirectUris: []string{"http://127.0.0.1/cb", "com.example.app:/cb"}, Scopes: authn.Scopes(), Public: true,
	})
	s.platform = platformv1.NewAuthorizationServiceClient(s.Conn)
	return s
}

// client creates or replaces a client, with a new secret.
func (s *site) client(t *testing.T, c *platformv1.ClientRecord) (secret string) {
	t.Helper()
	r, err := s.Access.PutClient(s.service.Context(), &platformv1.PutClientRequest{Client: c, NewSecret: !c.GetPublic()})
	if err != nil {
		t.Fatal(err)
	}
	return r.GetClientSecret()
}

func (s *site) url(path string) string { return "http://" + s.HTTPAddr + path }

// config returns the configuration of a client for the OAuth library of Go.
func (s *site) config(id string, scopes ...string) *oauth2.Config {
	c := &oauth2.Config{ClientID: id, RedirectURL: callback, Scopes: scopes, Endpoint: oauth2.Endpoint{
		AuthURL: s.url("/oauth2/authorize"), TokenURL: s.url("/oauth2/token"), DeviceAuthURL: s.url("/oauth2/device_authorization"),
	}}
	switch id {
	case web:
		c.ClientSecret = s.secret
	case rival:
		c.ClientSecret = s.rivalSecret
	case native:
		c.RedirectURL, c.Endpoint.AuthStyle = "http://127.0.0.1:49152/cb", oauth2.AuthStyleInParams
	}
	return c
}

var browser = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// visit returns the status of a URL, and where it redirects.
func visit(t *testing.T, target string) (status int, location *url.URL) {
	t.Helper()
	response, err := browser.Get(target)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if location, err = url.Parse(response.Header.Get("Location")); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, location
}

// request begins a sign-in, and returns the id of the request.
func request(t *testing.T, c *oauth2.Config, verifier string) string {
	t.Helper()
	status, to := visit(t, c.AuthCodeURL("the state", oauth2.S256ChallengeOption(verifier)))
	if status != http.StatusFound || !strings.HasPrefix(to.String(), loginURL+"&request=") {
		t.Fatalf("authorize: got %d and %s, want the sign-in page", status, to)
	}
	return to.Query().Get("request")
}

// approve approves a request, and returns the parameters with which the browser returns.
func (s *site) approve(t *testing.T, id string, user uid.ID, scopes ...string) url.Values {
	t.Helper()
	r, err := s.platform.Approve(s.service.Context(), &platformv1.ApproveRequest{RequestId: id, UserId: user.String(), Scopes: scopes})
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(r.GetRedirectTo())
	if err != nil {
		t.Fatal(err)
	}
	return to.Query()
}

// code lets a user approve everything, and returns the code.
func (s *site) code(t *testing.T, c *oauth2.Config, verifier string, user uid.ID) string {
	t.Helper()
	return s.approve(t, request(t, c, verifier), user, c.Scopes...).Get("code")
}

// signIn lets a user sign in and approve everything.
func (s *site) signIn(t *testing.T, c *oauth2.Config, user uid.ID) *oauth2.Token {
	t.Helper()
	verifier := oauth2.GenerateVerifier()
	token, err := c.Exchange(context.Background(), s.code(t, c, verifier, user), oauth2.VerifierOption(verifier))
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// answer is the response of an endpoint that returns JSON.
type answer struct {
	Status int
	Header http.Header
	Body   map[string]any
}

func (a answer) text(name string) string {
	text, _ := a.Body[name].(string)
	return text
}

// post sends a form with a client's credentials.
func (s *site) post(t *testing.T, path string, c *oauth2.Config, form url.Values) answer {
	t.Helper()
	if c != nil {
		form.Set("client_id", c.ClientID)
		if c.ClientSecret != "" {
			form.Set("client_secret", c.ClientSecret)
		}
	}
	r, err := http.NewRequest(http.MethodPost, s.url(path), strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return send(t, r)
}

// send sends a request whose response is JSON.
func send(t *testing.T, r *http.Request) answer {
	t.Helper()
	response, err := browser.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	a := answer{Status: response.StatusCode, Header: response.Header}
	_ = json.NewDecoder(response.Body).Decode(&a.Body)
	return a
}

// refresh uses a refresh token.
func (s *site) refresh(t *testing.T, c *oauth2.Config, token string) answer {
	t.Helper()
	return s.post(t, "/oauth2/token", c, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}})
}

// redeem exchanges a code.
func (s *site) redeem(t *testing.T, c *oauth2.Config, code, verifier string) answer {
	t.Helper()
	return s.post(t, "/oauth2/token", c, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "code_verifier": {verifier}, "redirect_uri": {c.RedirectURL},
	})
}

// works reports whether an access token of a client is valid, according to the database.
func (s *site) works(t *testing.T, token string) bool {
	t.Helper()
	row, err := authn.Introspect(context.Background(), s.Store, token)
	if err != nil {
		t.Fatal(err)
	}
	return row != nil
}

func (a answer) want(t *testing.T, what string, status int, code string) {
	t.Helper()
	if a.Status != status || a.text("error") != code {
		t.Errorf("%s: got %d %v, want %d %q", what, a.Status, a.Body, status, code)
	}
	if got := a.Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("%s: Cache-Control: got %q, want no-store", what, got)
	}
}
