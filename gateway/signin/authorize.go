package signin

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zitadel/oidc/v3/pkg/oidc"

	"github.com/moderato-live/moderato/server/domain/access"
	"github.com/moderato-live/moderato/server/domain/oauth"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
)

// notConfigured is the message when the server has no sign-in page.
const notConfigured = "Users cannot sign in: this server has no sign-in page. Its operator sets one with --login-url."

func scopes() []string { return authn.Scopes() }

// authorize begins a sign-in: it stores the client's request, and sends the browser to the
// sign-in page. It has a handler of its own, because the library's decodes redirect URIs
// before it compares them, ignores the host of a loopback address, answers a person with
// JSON, and sends no `iss`. An error is sent to the client only if the client and its
// redirect URI are known: otherwise the server would send browsers anywhere.
func (h *handler) authorize(x *exchange) error {
	query, malformed := url.ParseQuery(x.r.URL.RawQuery)
	one := func(name string) string {
		if len(query[name]) != 1 {
			return ""
		}
		return query.Get(name)
	}
	if h.loginURL(x.issuer, nil) == "" {
		return h.errorPage(x, http.StatusServiceUnavailable, notConfigured)
	}
	if err := h.limits.begin(x); err != nil {
		x.Header().Set("Retry-After", apierr.Of(err).RetryAfterSeconds())
		return h.errorPage(x, http.StatusTooManyRequests, "There are too many sign-ins from your network. Wait a minute, and try again.")
	}
	if malformed != nil {
		return h.errorPage(x, http.StatusBadRequest, "The address that the application opened is damaged: its query is not well-formed. Go back, and start again. If that does not help, tell the application's developer.")
	}
	c, err := h.Service.Client(x.r.Context(), one("client_id"))
	switch {
	case err != nil:
		x.cause = err
		return h.errorPage(x, http.StatusServiceUnavailable, "The server is not available. Try again in a minute.")
	case c == nil:
		return h.errorPage(x, http.StatusBadRequest, "The application that sent you here is not known (client_id). Tell its developer.")
	case !h.hasRedirectURI(c, x.issuer, one("redirect_uri")):
		return h.errorPage(x, http.StatusBadRequest, h.notRegistered(c, one("redirect_uri")))
	}
	x.client = c.ID
	request := &oidc.AuthRequest{
		ClientID: c.ID, RedirectURI: one("redirect_uri"), Scopes: strings.Fields(one("scope")), State: one("state"),
		ResponseType: oidc.ResponseType(one("response_type")), ResponseMode: oidc.ResponseMode(one("response_mode")),
		CodeChallenge: one("code_challenge"), CodeChallengeMethod: oidc.CodeChallengeMethod(one("code_challenge_method")),
		RequestParam: query.Get("request") + query.Get("request_uri"),
	}
	for _, values := range query {
		if len(values) > 1 {
			return h.refuse(x, request, oidc.ErrInvalidRequest().WithDescription("a parameter is repeated"))
		}
	}
	if x.r.Method == http.MethodHead { // it must change nothing
		return nil
	}
	id, err := h.Service.Begin(x.r.Context(), c, x.issuer, request)
	if err != nil {
		return h.refuse(x, request, err)
	}
	hint := one("login_hint")
	if user := h.consoleUser(c, hint); user != nil {
		return h.demo.decide(x, id, oauth.Decision{User: user.ID, Scopes: slices.Compact(slices.Sorted(slices.Values(request.Scopes)))}, http.StatusFound)
	}
	parameters := url.Values{"request": {id}}
	if hint != "" && len(hint) <= maxHint && utf8.ValidString(hint) {
		parameters.Set("login_hint", hint)
	}
	redirect(x, h.loginURL(x.issuer, parameters), http.StatusFound)
	return nil
}

// maxHint is the length in bytes up to which the sign-in page gets a client's login_hint.
const maxHint = 256

// consoleUser returns the user of the demo as whom the console asks to sign in, with the user's id
// as login_hint. The demo then asks nobody. Nil means that the sign-in page asks, as it does for
// every other client. Another site can begin such a sign-in too, but cannot end it: the console
// compares the state, and only who began the sign-in has the verifier of its code.
func (h *handler) consoleUser(c *oauth.Client, hint string) *DemoUser {
	if h.demo == nil || h.LoginURL != "" || c.ID != access.Console {
		return nil
	}
	return h.demo.user(hint)
}

// refuse sends the browser back to the client with an error.
func (h *handler) refuse(x *exchange, r *oidc.AuthRequest, err error) error {
	var shown *oidc.Error
	if !errors.As(err, &shown) {
		e := apierr.Of(err)
		x.cause = err
		shown = oidc.ErrServerError().WithDescription("%s", e.Text())
		if !e.IsOurs() || e.RetryAfter > 0 {
			shown.ErrorType = "temporarily_unavailable"
		}
	}
	x.outcome = strings.ToUpper(string(shown.ErrorType))
	redirect(x, oauth.RedirectTo(r.RedirectURI, r.State, x.issuer, oauth.ErrorParameters(shown)), http.StatusFound)
	return nil
}

// redirect sends the browser to a URL. http.Redirect would change URLs with a private
// scheme.
func redirect(x *exchange, to string, status int) {
	x.Header().Set("Location", to)
	x.Header().Set("Referrer-Policy", "no-referrer")
	x.WriteHeader(status)
}

// maxShownURI is the length up to which an error page shows a redirect URI.
const maxShownURI = 200

// hasRedirectURI reports whether a client may send browsers to a URI. The only one of the
// console's is where this server has its console. Unless it is a demo, the operator says where
// that is. Otherwise anybody could have users return to another host, with a request that names
// this host.
func (h *handler) hasRedirectURI(c *oauth.Client, issuer, uri string) bool {
	if c.ID != access.Console {
		return c.HasRedirectURI(uri)
	}
	return (h.PublicURL != "" || h.LoginURL == "") && uri == issuer+h.ConsolePath
}

// notRegistered says that a client has no such redirect URI. The page shows only an absolute
// URI: another text could be a secret in the wrong parameter.
func (h *handler) notRegistered(c *oauth.Client, uri string) string {
	if c.ID == access.Console {
		if h.PublicURL == "" {
			return "The console can sign in only if the operator of the server sets --public-url."
		}
		return "Open the console at its own address: " + h.PublicURL + h.ConsolePath
	}
	const register = " The application's developer registers it with moderato client update --redirect-uri."
	switch {
	case uri == "":
		return "The application does not say to which address you return (redirect_uri is missing)." + register
	case len(uri) > maxShownURI, !isAbsolute(uri):
		return "The address to which the application wants you to return is not registered (redirect_uri)." + register
	}
	return "The address to which the application wants you to return is not registered: redirect_uri " + uri + "." + register
}

// isAbsolute reports whether a text is a URI with a scheme.
func isAbsolute(text string) bool {
	uri, err := url.Parse(text)
	return err == nil && uri.IsAbs()
}
