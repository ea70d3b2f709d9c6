package oauth_test

import (
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/oauth2"

	oauthweb "github.com/moderato-live/moderato/gateway/signin"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// person uses the demo's page with a browser that keeps cookies.
type person struct {
	*testing.T
	*http.Client

	page string
	url  string
}

func demoSite(t *testing.T) *site {
	t.Helper()
	c := servertest.Config(storetest.SQLite(t))
	c.DemoUsers = []oauthweb.DemoUser{{ID: servertest.Viewer, Name: "<Amara>", Role: "watches"}, {ID: servertest.Owner, Name: "Inês", Role: "owns"}}
	return open(t, c)
}

func newPerson(t *testing.T) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &person{T: t, Client: &http.Client{Jar: jar, CheckRedirect: browser.CheckRedirect}}
}

// view is what a browser gets.
type view struct {
	StatusCode int
	Header     http.Header
}

// location returns where the browser goes next.
func (v view) location(t *testing.T) *url.URL {
	t.Helper()
	to, err := url.Parse(v.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// see follows redirects within the server, and returns the last response with its body.
func (p *person) see(response *http.Response, err error) (view, string) {
	p.Helper()
	for err == nil && strings.HasPrefix(response.Header.Get("Location"), "/") || err == nil && strings.Contains(response.Header.Get("Location"), "/demo/sign-in?") {
		to, _ := response.Location()
		p.url = to.String()
		_ = response.Body.Close()
		response, err = p.Get(p.url)
	}
	if err != nil {
		p.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		p.Fatal(err)
	}
	p.page = string(body)
	return view{response.StatusCode, response.Header}, p.page
}

var inputs = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)

// submit submits the form of the page.
func (p *person) submit(pairs ...string) (view, string) {
	p.Helper()
	form := url.Values{}
	for _, m := range inputs.FindAllStringSubmatch(p.page, -1) {
		form.Set(m[1], m[2])
	}
	for i := 0; i < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return p.see(p.PostForm(p.url, form))
}

func (p *person) session() string {
	u, _ := url.Parse(p.url)
	for _, c := range p.Jar.Cookies(u.ResolveReference(&url.URL{Path: "/demo/sign-in"})) {
		return c.Value
	}
	return ""
}

func TestDemoPage(t *testing.T) {
	s := demoSite(t)
	c := s.config(native, authn.UsersRead, authn.UsersBot)
	verifier := oauth2.GenerateVerifier()
	p := newPerson(t)
	response, page := p.see(p.Get(c.AuthCodeURL("st", oauth2.S256ChallengeOption(verifier))))
	if !strings.Contains(page, "&lt;Amara&gt;") || strings.Contains(page, "<script") {
		t.Errorf("the page is %s", page)
	}
	csp := response.Header.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"} {
		if !strings.Contains(csp, part) || strings.Contains(csp, "unsafe") {
			t.Errorf("Content-Security-Policy: got %q, want %s", csp, part)
		}
	}
	_, style, _ := strings.Cut(page, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	if sum := sha256.Sum256([]byte(style)); style == "" || !strings.Contains(csp, "style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
		t.Errorf("Content-Security-Policy: got %q, which is not of the page's style", csp)
	}
	cookie := response.Header.Get("Set-Cookie")
	if !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Lax") {
		t.Errorf("Set-Cookie: got %q", cookie)
	}
	before, signIn := p.session(), p.page
	response, page = p.submit("user", servertest.Viewer.String(), "action", "sign-in")
	if !strings.Contains(page, "Native app") || !strings.Contains(response.Header.Get("Content-Security-Policy"), "form-action 'self' http: https:;") {
		t.Errorf("consent: got %v %s", response.Header, page)
	}
	after := p.session()
	if before == "" || after == "" || before == after {
		t.Errorf("the session is %q, and %q after the sign-in; want a new one", before, after)
	}
	consent := p.page
	p.page = signIn // its token is of the session before
	if response, _ := p.submit("scope", authn.UsersRead, "action", "approve"); response.StatusCode != http.StatusForbidden {
		t.Errorf("with the token of another session: got %d, want 403", response.StatusCode)
	}
	stranger := newPerson(t)
	stranger.page, stranger.url = consent, p.url
	if response, _ := stranger.submit("scope", authn.UsersRead, "action", "approve"); response.StatusCode != http.StatusForbidden {
		t.Errorf("without the cookie: got %d, want 403", response.StatusCode)
	}
	p.page = consent
	for range 2 { // people click twice
		response, _ = p.submit("scope", authn.UsersRead, "action", "approve")
		p.page = consent
	}
	to := response.location(t)
	if response.StatusCode != http.StatusSeeOther || to.Query().Get("state") != "st" {
		t.Fatalf("approve: got %d %s", response.StatusCode, to)
	}
	token := s.redeem(t, c, to.Query().Get("code"), verifier)
	if token.text("scope") != authn.UsersRead {
		t.Errorf("got %v, want what was chosen", token.Body)
	}
}

func TestDemoPageDenies(t *testing.T) {
	s := demoSite(t)
	p := newPerson(t)
	_, _ = p.see(p.Get(s.config(web, authn.UsersRead).AuthCodeURL("st", oauth2.S256ChallengeOption(oauth2.GenerateVerifier()))))
	if response, _ := p.submit("action", "deny"); response.StatusCode != http.StatusBadRequest {
		t.Errorf("before the sign-in: got %d", response.StatusCode)
	}
	_, _ = p.see(p.Get(p.url))
	_, _ = p.submit("user", servertest.Owner.String(), "action", "sign-in")
	response, _ := p.submit("action", "deny")
	if to := response.Header.Get("Location"); !strings.HasPrefix(to, callback+"?error=access_denied") {
		t.Errorf("deny: got %d %s", response.StatusCode, to)
	}
	if response, page := p.see(p.Get(p.url)); response.StatusCode != http.StatusNotFound {
		t.Errorf("afterwards: got %d %s", response.StatusCode, page)
	}
}

func TestDemoPageConnectsDevice(t *testing.T) {
	s := demoSite(t)
	c := s.config(native, authn.UsersRead)
	device := s.device(t, c)
	p := newPerson(t)
	response, page := p.see(p.Get(device.text("verification_uri")))
	if response.StatusCode != http.StatusOK || !strings.Contains(page, `name="user_code"`) {
		t.Errorf("got %d %s", response.StatusCode, page)
	}
	response, page = p.see(p.Get(device.text("verification_uri") + "?user_code=WRNG-CODE"))
	for _, want := range []string{`name="user_code"`, `value="WRNG-CODE"`, `role="alert"`} {
		if response.StatusCode != http.StatusNotFound || !strings.Contains(page, want) {
			t.Errorf("after a wrong code: got %d, without %s: %s", response.StatusCode, want, page)
		}
	}
	p.url = device.text("verification_uri") + "?user_code=" + strings.ToLower(device.text("user_code"))
	_, _ = p.see(p.Get(p.url))
	if _, page := p.submit("user", servertest.Viewer.String(), "action", "sign-in"); !strings.Contains(page, device.text("user_code")) {
		t.Errorf("consent: got %s", page)
	}
	if response, page := p.submit("scope", authn.UsersRead, "action", "approve"); response.StatusCode != http.StatusOK {
		t.Errorf("approve: got %d %s", response.StatusCode, page)
	}
	s.poll(t, c, device).want(t, "the device", http.StatusOK, "")
}
