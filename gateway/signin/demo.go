package signin

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/golang-lru/v2/expirable"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/oauth"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
)

// DemoUser is a user whom the sign-in page of the demo offers.
type DemoUser struct {
	ID         uid.ID
	Name, Role string
}

const (
	sessionCookie   = "demo_session"
	sessionLifetime = time.Hour
	maxSessions     = 10_000
)

// demoPage is the sign-in page of the demo. A platform has its own, which calls
// AuthorizationService.
type demoPage struct {
	*handler

	sessions *expirable.LRU[string, session]
}

// session is the session of a browser. Its id is the value of a cookie.
type session struct {
	// csrf is the token that the forms of the session carry.
	csrf string
	// user is whom the browser has signed in as; nil before.
	user *DemoUser
}

func newDemoPage(h *handler) *demoPage {
	return &demoPage{handler: h, sessions: expirable.NewLRU[string, session](maxSessions, nil, sessionLifetime)}
}

// begin starts a session. Each sign-in starts one, so that nobody can know the session of
// another person from before.
func (p *demoPage) begin(x *exchange, user *DemoUser) session {
	if c, err := x.r.Cookie(sessionCookie); err == nil {
		p.sessions.Remove(c.Value)
	}
	id, s := rand.Text(), session{csrf: rand.Text(), user: user}
	p.sessions.Add(id, s)
	http.SetCookie(x, &http.Cookie{
		Name: sessionCookie, Value: id, Path: DemoSignInPath, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: strings.HasPrefix(x.issuer, "https:"), MaxAge: int(sessionLifetime / time.Second),
	})
	return s
}

// user returns the user with an id; nil if the demo does not offer the user.
func (p *demoPage) user(id string) *DemoUser {
	i := slices.IndexFunc(p.DemoUsers, func(u DemoUser) bool { return u.ID.String() == id })
	if i < 0 {
		return nil
	}
	return &p.DemoUsers[i]
}

func (p *demoPage) session(r *http.Request) (session, bool) {
	c, err := r.Cookie(sessionCookie)
	if err != nil {
		return session{}, false
	}
	return p.sessions.Get(c.Value)
}

// requestOf returns the request that the parameters of the page name.
func (p *demoPage) requestOf(x *exchange, form url.Values) (n named, err error) {
	n = named{name: "request", value: form.Get("request")}
	n.id = n.value
	if n.value == "" {
		n = named{name: "user_code", value: form.Get("user_code")}
		n.id = oauth.ReadUserCode(n.value)
	}
	n.request, err = p.Service.Request(x.r.Context(), n.id)
	if err == nil {
		x.client = n.request.GetClientId()
	}
	return n, err
}

// named is a request with the parameter of the page that names it.
type named struct {
	name, value string
	id          string
	// request is nil if it waits for no decision.
	request *platformv1.GetRequestResponse
}

// form is what the templates of the forms show.
type form struct {
	CSRF        string
	Name, Value string // the parameter that names the request
	Request     *platformv1.GetRequestResponse
	Users       []DemoUser
	User        *DemoUser
	Host        string
	Scopes      []scope
}

// codeForm is what the form for the code of a device shows. After a wrong code it has the code
// that was entered.
type codeForm struct{ Value, Problem string }

type scope struct{ Name, Text string }

// scopeTexts describe the scopes to people.
var scopeTexts = map[string]string{
	authn.UsersRead:       "See your profile, your channel and your followers",
	authn.ChannelModerate: "Ban, mute and moderate in your name",
	authn.OfflineAccess:   "Stay signed in while you are away",
	authn.UsersBot:        "Send chat messages in your name",
}

// show shows the page.
func (p *demoPage) show(x *exchange) error {
	if err := p.limits.address(x); err != nil {
		return p.failed(x, err)
	}
	if x.r.Form.Get("request") == "" && x.r.Form.Get("user_code") == "" {
		return p.page(x, http.StatusOK, "code", "", codeForm{})
	}
	n, err := p.requestOf(x, x.r.Form)
	if n.name == "user_code" && errors.Is(err, apierr.New(moderatov1.Reason_REASON_REQUEST_NOT_FOUND)) {
		x.outcome = "REFUSED"
		return p.page(x, http.StatusNotFound, "code", "", codeForm{Value: n.value, Problem: "No device waits with this code. Compare it with the one on your device, and enter it again. A code works for ten minutes: if yours is older, start again on the device."})
	}
	if err != nil {
		return p.failed(x, err)
	}
	s, ok := p.session(x.r)
	if !ok {
		s = p.begin(x, nil)
	}
	request := n.request
	f := form{CSRF: s.csrf, Name: n.name, Value: n.value, Request: request, Users: p.DemoUsers, User: s.user}
	if s.user == nil {
		return p.page(x, http.StatusOK, "sign-in", "", f)
	}
	for _, name := range request.GetScopes() {
		f.Scopes = append(f.Scopes, scope{name, scopeTexts[name]})
	}
	if u, err := url.Parse(request.GetRedirectUri()); err == nil {
		if f.Host = u.Host; f.Host == "" {
			f.Host = u.Scheme
		}
	}
	return p.page(x, http.StatusOK, "consent", request.GetRedirectUri(), f)
}

// submit handles the forms of the page. A form must carry the token of the session.
func (p *demoPage) submit(x *exchange) error {
	if err := p.limits.address(x); err != nil {
		return p.failed(x, err)
	}
	if err := parseForm(x); err != nil { // in which scopes may be repeated
		return p.errorPage(x, http.StatusBadRequest, "The form could not be read. Go back, and send it again.")
	}
	posted := x.r.PostForm
	s, ok := p.session(x.r)
	if !ok || subtle.ConstantTimeCompare([]byte(s.csrf), []byte(posted.Get("csrf"))) != 1 {
		return p.errorPage(x, http.StatusForbidden, "This page is from an earlier session. Go back to the application, and start again.")
	}
	n, err := p.requestOf(x, posted)
	action := posted.Get("action")
	switch {
	case action == "sign-in" && err == nil:
		user := p.user(posted.Get("user"))
		if user == nil {
			return p.errorPage(x, http.StatusBadRequest, "This account is not one of the demo. Go back, and choose another.")
		}
		p.begin(x, user)
	case action == "sign-out" && err == nil:
		p.begin(x, nil)
	case s.user != nil && action == "approve":
		return p.decide(x, n.id, oauth.Decision{User: s.user.ID, Scopes: slices.Compact(slices.Sorted(slices.Values(posted["scope"])))}, http.StatusSeeOther)
	case s.user != nil && action == "deny":
		return p.decide(x, n.id, oauth.Decision{}, http.StatusSeeOther)
	case err != nil:
		return p.failed(x, err)
	default:
		return p.errorPage(x, http.StatusBadRequest, "You are not signed in. Go back to the application, and start again.")
	}
	redirect(x, DemoSignInPath+"?"+url.Values{n.name: {n.value}}.Encode(), http.StatusSeeOther)
	return nil
}

// decide records the decision of the user, and redirects the browser with a status. A form that is sent twice has the same result.
func (p *demoPage) decide(x *exchange, id string, d oauth.Decision, status int) error {
	if !d.User.IsZero() && len(d.Scopes) == 0 {
		return p.errorPage(x, http.StatusBadRequest, "Nothing is chosen. Go back, and choose what the application may do, or cancel.")
	}
	var to string
	if err := p.Service.Decide(x.r.Context(), id, d, &to, func(context.Context, *ent.Tx) error { return nil }); err != nil {
		return p.failed(x, err)
	}
	if to == "" {
		return p.page(x, http.StatusOK, "done", "", "You can close this page. The device continues by itself.")
	}
	redirect(x, to, status)
	return nil
}

// failed writes the page for an error.
func (p *demoPage) failed(x *exchange, err error) error {
	e := apierr.Of(err)
	if errors.Is(err, apierr.New(moderatov1.Reason_REASON_REQUEST_NOT_FOUND)) {
		return p.errorPage(x, http.StatusNotFound, e.Text()+" Go back to the application, and start again.")
	}
	if e.IsOurs() {
		x.cause = err
	}
	return p.errorPage(x, apierr.HTTPStatus(e.Reason), e.Text())
}

// signedIn is where the demo's own client returns to: it shows the code, so that one can
// exchange it by hand.
func (p *demoPage) signedIn(x *exchange) error {
	return p.page(x, http.StatusOK, "signed-in", "", struct{ Code, Error string }{x.r.Form.Get("code"), x.r.Form.Get("error_description")})
}
