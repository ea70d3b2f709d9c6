// Package signin serves the HTTP endpoints of OAuth: the standard ones, the same in the
// spelling of the API's own clients, and the sign-in page of the demo.
package signin

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/moderato-live/moderato/gateway"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/fair"
	"github.com/moderato-live/moderato/internal/logging"
	"github.com/moderato-live/moderato/internal/requestid"
	"github.com/moderato-live/moderato/server/domain/oauth"
	"github.com/moderato-live/moderato/server/rpc/apierr"
)

// The paths of the standard endpoints.
const (
	MetadataPath      = "/.well-known/oauth-authorization-server"
	AuthorizePath     = "/oauth2/authorize"
	TokenPath         = "/oauth2/token"
	DevicePath        = "/oauth2/device_authorization"
	RevokePath        = "/oauth2/revoke"
	IntrospectPath    = "/oauth2/introspect"
	generateURLPath   = "/bapi/oauth2/generate-auth-url"
	exchangePath      = "/bapi/oauth2/token"
	refreshPath       = "/bapi/oauth2/refresh"
	DemoSignInPath    = "/demo/sign-in"
	DemoSignedInPath  = "/demo/signed-in"
	maxFormBytes      = 64 << 10
	callTimeout       = 15 * time.Second
	maxParameterCount = 100
)

// Options configures the endpoints.
type Options struct {
	// Service does the work.
	Service *oauth.Service
	// LoginURL is the platform's sign-in page. If it is empty, users can only sign in on
	// the page of the demo.
	LoginURL string
	// PublicURL is the issuer. If it is empty, it is the origin of each request.
	PublicURL string
	// ConsolePath is the path of the console, to which its sign-ins return.
	ConsolePath string
	// DemoUsers are the users whom the sign-in page of the demo offers. Without users
	// there is no such page.
	DemoUsers []DemoUser
	// RateLimit is the number of requests per minute from one address, and for one client;
	// 0 disables the limits.
	RateLimit int
	// MaxWait is the longest time that a request waits for a connection to the database.
	MaxWait time.Duration
	// Draining reports whether the server refuses new requests.
	Draining func() bool
	// Observe records a request in the metrics.
	Observe func(path, code string, elapsed time.Duration)
	// Log is the log of requests.
	Log *slog.Logger
}

type handler struct {
	Options

	standard http.Handler
	limits   *limits
	demo     *demoPage
}

// Endpoints returns the endpoints.
func Endpoints(o Options) []gateway.Endpoint {
	h := &handler{Options: o, limits: newLimits(o.RateLimit, func() time.Time { return o.Service.Store.Clock.Local().Time() })}
	h.standard = op.RegisterServer(&protocol{handler: h}, op.Endpoints{
		Token: op.NewEndpoint(TokenPath), DeviceAuthorization: op.NewEndpoint(DevicePath),
		Revocation: op.NewEndpoint(RevokePath), Introspection: op.NewEndpoint(IntrospectPath),
	}, op.WithServerCORSOptions(nil), op.WithFallbackLogger(slog.New(slog.DiscardHandler)))
	all := []gateway.Endpoint{
		{Method: http.MethodGet, Path: MetadataPath, Serve: h.observed(h.metadata)},
		{Method: http.MethodGet, Path: AuthorizePath, Serve: h.observed(h.authorize), ReadsQuery: true, IsPage: true},
		{Method: http.MethodPost, Path: TokenPath, Serve: h.recorded(h.form), IsForm: true},
		{Method: http.MethodPost, Path: DevicePath, Serve: h.recorded(h.form), IsForm: true},
		{Method: http.MethodPost, Path: RevokePath, Serve: h.recorded(h.form), IsForm: true},
		{Method: http.MethodPost, Path: IntrospectPath, Serve: h.recorded(h.form), IsForm: true, IsPage: true},
		{Method: http.MethodPost, Path: generateURLPath, Serve: h.observed(h.generateURL)},
		{Method: http.MethodPost, Path: exchangePath, Serve: h.observed(h.exchange)},
		{Method: http.MethodPost, Path: refreshPath, Serve: h.observed(h.refresh)},
	}
	if len(o.DemoUsers) == 0 {
		return all
	}
	h.demo = newDemoPage(h)
	return append(all,
		gateway.Endpoint{Method: http.MethodGet, Path: DemoSignInPath, Serve: h.observed(h.demo.show), IsPage: true},
		gateway.Endpoint{Method: http.MethodPost, Path: DemoSignInPath, Serve: h.observed(h.demo.submit), IsForm: true, IsPage: true},
		gateway.Endpoint{Method: http.MethodGet, Path: DemoSignedInPath, Serve: h.observed(h.demo.signedIn), IsPage: true},
	)
}

// exchange is the state of one request.
type exchange struct {
	*recorder

	r *http.Request
	// issuer is this server's own URL: PublicURL or, without it, as the client called it.
	issuer string
	// client is the id of the client, once it is known; for the log.
	client string
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// observed returns the function of an endpoint, whose errors are in the envelope: it
// records requests, and refuses those that the server cannot take.
func (h *handler) observed(serve func(*exchange) error) func(http.ResponseWriter, *http.Request) error {
	return h.recorded(func(x *exchange) error {
		if err := h.admit(x); err != nil {
			return err
		}
		return serve(x)
	})
}

// recorded returns the function of an endpoint that calls admit itself: it counts and logs
// requests, and bounds their time. If serve returns an error, it has written nothing.
func (h *handler) recorded(serve func(*exchange) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		start := time.Now()
		x := &exchange{recorder: &recorder{ResponseWriter: w}}
		ctx, cancel := context.WithTimeout(r.Context(), callTimeout)
		defer cancel()
		ctx = context.WithValue(ctx, exchangeKey{}, x)
		ctx = context.WithValue(ctx, requestid.ContextKey{}, w.Header().Get(requestid.Header))
		x.r = r.WithContext(fair.NewContext(ctx, fair.Request{Owner: fair.Strangers, MaxWait: h.MaxWait}))
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Pragma", "no-cache")
		err := serve(x)
		h.log(x, err, time.Since(start))
		return err
	}
}

// admit returns an error if the server takes no requests, or not this one.
func (h *handler) admit(x *exchange) (err error) {
	if h.Draining() {
		return &apierr.Error{Reason: moderatov1.Reason_REASON_UNAVAILABLE, RetryAfter: time.Second}
	}
	if x.issuer = h.PublicURL; x.issuer == "" {
		x.issuer, err = issuerOf(x.r)
	}
	return err
}

func (h *handler) log(x *exchange, err error, elapsed time.Duration) {
	code, level := x.code(), slog.LevelInfo
	if err != nil {
		e := apierr.Of(err)
		code = apierr.Code(e.Reason)
		if e.IsOurs() {
			level = slog.LevelError
		}
	}
	if x.cause != nil {
		level, err = slog.LevelError, x.cause
	}
	h.Observe(x.r.URL.Path, code, elapsed)
	attrs := []slog.Attr{
		slog.String("request_id", requestid.FromContext(x.r.Context())), slog.String("method", x.r.URL.Path),
		slog.String("transport", "rest"), slog.String("code", code), logging.Milliseconds("duration_ms", elapsed),
		slog.String("address", x.r.RemoteAddr),
	}
	if x.client != "" {
		attrs = append(attrs, slog.String("client_id", x.client))
	}
	if err != nil {
		attrs = append(attrs, slog.Any("error", err))
	}
	h.Log.LogAttrs(x.r.Context(), level, "call", attrs...)
}

// hostForm is the form of a Host header that becomes part of URLs.
var hostForm = regexp.MustCompile(`^[A-Za-z0-9._:\[\]-]{1,255}$`)

// issuerOf returns this server's own URL, as the client called it. A proxy in front must
// pass the header Host on, and set X-Forwarded-Proto: see peer.Behind.
func issuerOf(r *http.Request) (string, error) {
	if !hostForm.MatchString(r.Host) {
		return "", apierr.Invalid(apierr.Violation{Field: "", Description: "the header Host is not valid"})
	}
	scheme := "http"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	return scheme + "://" + r.Host, nil
}

// loginURL returns the URL of the sign-in page with parameters; empty if there is no page.
func (h *handler) loginURL(issuer string, parameters url.Values) string {
	page := h.LoginURL
	if page == "" && h.demo != nil {
		page = issuer + DemoSignInPath
	}
	if page == "" || parameters == nil {
		return page
	}
	separator := "?"
	if strings.Contains(page, "?") {
		separator = "&"
	}
	return page + separator + parameters.Encode()
}
