package signin

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/moderato-live/moderato/gateway"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/fair"
	"github.com/moderato-live/moderato/server/domain/oauth"
	"github.com/moderato-live/moderato/server/rpc/apierr"
)

// protocol implements the requests of the standard endpoints, which the library parses.
type protocol struct {
	op.UnimplementedServer
	*handler
}

// allOfClient is what the library may ask of a client. Most of it is about ID tokens, which
// do not exist here, and is never called.
type allOfClient = op.Client

// clientOf is a client as the library sees it.
type clientOf struct {
	allOfClient
	*oauth.Client
}

// GetID implements op.Client.
func (c clientOf) GetID() string { return c.ID }

// AuthMethod implements op.Client.
func (c clientOf) AuthMethod() oidc.AuthMethod {
	if c.IsPublic {
		return oidc.AuthMethodNone
	}
	return oidc.AuthMethodBasic
}

// GrantTypes implements op.Client.
func (c clientOf) GrantTypes() []oidc.GrantType {
	return []oidc.GrantType{oidc.GrantTypeCode, oidc.GrantTypeRefreshToken, oidc.GrantTypeDeviceCode, oidc.GrantTypeClientCredentials}
}

// form serves the endpoints that take a form and return JSON. It refuses what the library
// would accept: parameters in the URL, which ends up in logs, repeated parameters, and two
// ways of authentication at once.
func (h *handler) form(x *exchange) error {
	if err := h.checkForm(x); err != nil {
		op.WriteError(x, x.r, answer(x, err), h.Log)
		return nil
	}
	h.standard.ServeHTTP(x, x.r)
	return nil
}

func (h *handler) checkForm(x *exchange) error {
	if err := h.admit(x); err != nil {
		return err
	}
	if err := h.limits.address(x); err != nil {
		return err
	}
	if err := readForm(x); err != nil {
		return err
	}
	if err := checkCredentials(x); err != nil {
		return err
	}
	if x.r.URL.Path == DevicePath {
		return h.limits.begin(x)
	}
	return nil
}

// checkCredentials refuses credentials of a client that are wrong, whoever the client is.
// The library would refuse some of them with status 400, and RFC 6749 has 401.
func checkCredentials(x *exchange) error {
	form := x.r.PostForm
	id, secret, hasBasic := x.r.BasicAuth()
	if x.hasBasic = hasBasic; !hasBasic {
		secret = form.Get("client_secret")
	} else if form.Has("client_secret") {
		return errRequest("the client's secret must be sent in one place only")
	}
	for _, text := range []string{id, secret} {
		if _, err := url.QueryUnescape(text); hasBasic && err != nil {
			return oidc.ErrInvalidClient().WithDescription("the client's id or secret in the header is not well-formed")
		}
	}
	if x.r.URL.Path == IntrospectPath && secret == "" && form.Get("client_assertion") == "" {
		return oidc.ErrInvalidClient().WithDescription("the client must send its secret")
	}
	return nil
}

// readForm reads the form in the body of a request, and ignores the query.
func readForm(x *exchange) error {
	mediaType, _, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	if err != nil || mediaType != "application/x-www-form-urlencoded" {
		return errRequest("the body must be application/x-www-form-urlencoded")
	}
	u := *x.r.URL
	u.RawQuery = ""
	x.r.URL = &u
	if err := parseForm(x); err != nil {
		return err
	}
	if len(x.r.PostForm) > maxParameterCount {
		return errRequest("there are too many parameters")
	}
	for _, values := range x.r.PostForm {
		if len(values) > 1 {
			return errRequest("a parameter is repeated")
		}
	}
	return nil
}

// parseForm decodes and parses the body of a request.
func parseForm(x *exchange) error {
	body, err := gateway.ReadAll(x.ResponseWriter, x.r, maxFormBytes)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return op.NewStatusError(errRequest("the body is too large"), http.StatusRequestEntityTooLarge)
	case errors.Is(err, gateway.ErrEncoding):
		return op.NewStatusError(errRequest("the body has an unsupported content-encoding; send it as it is, or with gzip"), http.StatusUnsupportedMediaType)
	}
	x.r.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil || x.r.ParseForm() != nil {
		return errRequest("the body could not be read as a form")
	}
	return nil
}

// errRequest returns the error of a request that is not well-formed.
func errRequest(why string) *oidc.Error { return oidc.ErrInvalidRequest().WithDescription("%s", why) }

// answer returns an error as the library writes it. It hides the server's own mistakes,
// which are logged.
func answer(x *exchange, err error) error {
	var complete op.StatusError
	if errors.As(err, &complete) {
		return complete
	}
	var shown *oidc.Error
	if errors.As(err, &shown) {
		if shown.ErrorType == oidc.InvalidClient {
			return op.NewStatusError(shown, http.StatusUnauthorized)
		}
		return shown
	}
	e := apierr.Of(err)
	hidden := oidc.ErrServerError().WithDescription("%s", e.Text())
	status := apierr.HTTPStatus(e.Reason)
	if e.RetryAfter > 0 {
		x.Header().Set("Retry-After", e.RetryAfterSeconds())
	}
	switch e.Reason {
	case moderatov1.Reason_REASON_INTERNAL:
		x.cause = err
	case moderatov1.Reason_REASON_RATE_LIMITED:
		hidden.ErrorType = "temporarily_unavailable"
	case moderatov1.Reason_REASON_INVALID_ARGUMENT:
		hidden.ErrorType = oidc.InvalidRequest
	default:
		hidden.ErrorType, x.cause = "temporarily_unavailable", err
	}
	return op.NewStatusError(hidden, max(status, http.StatusBadRequest))
}

// responseOf returns the response with tokens.
func responseOf(ctx context.Context, t *oauth.Tokens, err error) (*op.Response, error) {
	if err != nil {
		return nil, answer(exchangeOf(ctx), err)
	}
	return op.NewResponse(&oidc.AccessTokenResponse{
		AccessToken: t.Access, TokenType: oidc.BearerToken, RefreshToken: t.Refresh,
		ExpiresIn: uint64(t.Lifetime / time.Second), Scope: t.Scopes,
	}), nil
}

// authenticate returns the client with an id and a secret, within its rate limit.
func (h *handler) authenticate(ctx context.Context, id, secret string) (*oauth.Client, error) {
	x := exchangeOf(ctx)
	if wait := h.limits.failures.Wait(x.r.RemoteAddr); wait > 0 {
		return nil, rateLimited(wait)
	}
	c, err := h.Service.Authenticate(ctx, id, secret)
	var wrong *oidc.Error
	if errors.As(err, &wrong) {
		h.limits.failures.Add(x.r.RemoteAddr)
	}
	if err != nil {
		return nil, err
	}
	x.client = c.ID
	if !c.IsPublic {
		fair.SetOwner(ctx, fair.Owner{Client: c.ID})
	}
	return c, h.limits.client(x, c.ID, c.IsPublic)
}

// VerifyClient implements op.Server.
func (p *protocol) VerifyClient(ctx context.Context, r *op.Request[op.ClientCredentials]) (op.Client, error) {
	if r.Data.ClientAssertion != "" {
		return nil, answer(exchangeOf(ctx), oidc.ErrInvalidClient().WithDescription("client assertions are not supported"))
	}
	c, err := p.authenticate(ctx, r.Data.ClientID, r.Data.ClientSecret)
	if err != nil {
		return nil, answer(exchangeOf(ctx), err)
	}
	if c.IsPublic && r.Form.Get("grant_type") == string(oidc.GrantTypeClientCredentials) {
		err := oidc.ErrInvalidClient().WithDescription("a public client gets no token without a user: use authorization_code or the device flow")
		return nil, answer(exchangeOf(ctx), err)
	}
	return clientOf{Client: c}, nil
}

// CodeExchange implements op.Server.
func (p *protocol) CodeExchange(ctx context.Context, r *op.ClientRequest[oidc.AccessTokenRequest]) (*op.Response, error) {
	t, err := p.Service.RedeemCode(ctx, r.Client.(clientOf).Client, r.Data.Code, r.Data.RedirectURI, r.Data.CodeVerifier)
	return responseOf(ctx, t, err)
}

// RefreshToken implements op.Server.
func (p *protocol) RefreshToken(ctx context.Context, r *op.ClientRequest[oidc.RefreshTokenRequest]) (*op.Response, error) {
	t, err := p.Service.Refresh(ctx, r.Client.(clientOf).Client, r.Data.RefreshToken, r.Data.Scopes)
	return responseOf(ctx, t, err)
}

// ClientCredentialsExchange implements op.Server.
func (p *protocol) ClientCredentialsExchange(ctx context.Context, r *op.ClientRequest[oidc.ClientCredentialsRequest]) (*op.Response, error) {
	t, err := p.Service.IssueApp(ctx, r.Client.(clientOf).Client, r.Data.Scope)
	return responseOf(ctx, t, err)
}

// DeviceToken implements op.Server.
func (p *protocol) DeviceToken(ctx context.Context, r *op.ClientRequest[oidc.DeviceAccessTokenRequest]) (*op.Response, error) {
	t, err := p.Service.RedeemDevice(ctx, r.Client.(clientOf).Client, r.Data.DeviceCode)
	return responseOf(ctx, t, err)
}

// DeviceAuthorization implements op.Server.
func (p *protocol) DeviceAuthorization(ctx context.Context, r *op.ClientRequest[oidc.DeviceAuthorizationRequest]) (*op.Response, error) {
	x := exchangeOf(ctx)
	if p.loginURL(x.issuer, nil) == "" {
		return nil, op.NewStatusError(oidc.ErrServerError().WithDescription(notConfigured), http.StatusServiceUnavailable)
	}
	d, err := p.Service.BeginDevice(ctx, r.Client.(clientOf).Client, r.Data.Scopes)
	if err != nil {
		return nil, answer(x, err)
	}
	return op.NewResponse(&oidc.DeviceAuthorizationResponse{
		DeviceCode: d.Code, UserCode: d.UserCode,
		VerificationURI:         p.loginURL(x.issuer, nil),
		VerificationURIComplete: p.loginURL(x.issuer, url.Values{"user_code": {d.UserCode}}),
		ExpiresIn:               int(oauth.RequestLifetime / time.Second), Interval: int(oauth.PollInterval / time.Second),
	}), nil
}

// Revocation implements op.Server.
func (p *protocol) Revocation(ctx context.Context, r *op.ClientRequest[oidc.RevocationRequest]) (*op.Response, error) {
	if err := p.Service.Revoke(ctx, r.Client.(clientOf).Client, r.Data.Token); err != nil {
		return nil, answer(exchangeOf(ctx), err)
	}
	return op.NewResponse(nil), nil
}

// Introspect implements op.Server.
func (p *protocol) Introspect(ctx context.Context, r *op.Request[op.IntrospectionRequest]) (*op.Response, error) {
	c, err := p.authenticate(ctx, r.Data.ClientID, r.Data.ClientSecret)
	if err == nil && c.IsPublic {
		err = oidc.ErrInvalidClient().WithDescription("the client must be confidential")
	}
	if err != nil {
		return nil, answer(exchangeOf(ctx), err)
	}
	found, err := p.Service.Introspect(ctx, c, r.Data.Token)
	if err != nil {
		return nil, answer(exchangeOf(ctx), err)
	}
	return op.NewResponse(found), nil
}

// metadata describes the server (RFC 8414).
func (h *handler) metadata(x *exchange) error {
	methods := []oidc.AuthMethod{oidc.AuthMethodBasic, oidc.AuthMethodPost, oidc.AuthMethodNone}
	return writeJSON(x, struct {
		oidc.DiscoveryConfiguration

		ResponseHasIssuer bool `json:"authorization_response_iss_parameter_supported"`
	}{oidc.DiscoveryConfiguration{
		Issuer:                                    x.issuer,
		AuthorizationEndpoint:                     x.issuer + AuthorizePath,
		TokenEndpoint:                             x.issuer + TokenPath,
		DeviceAuthorizationEndpoint:               x.issuer + DevicePath,
		RevocationEndpoint:                        x.issuer + RevokePath,
		IntrospectionEndpoint:                     x.issuer + IntrospectPath,
		ScopesSupported:                           scopes(),
		ResponseTypesSupported:                    []string{string(oidc.ResponseTypeCode)},
		ResponseModesSupported:                    []string{string(oidc.ResponseModeQuery)},
		GrantTypesSupported:                       clientOf{}.GrantTypes(),
		CodeChallengeMethodsSupported:             []oidc.CodeChallengeMethod{oidc.CodeChallengeMethodS256},
		TokenEndpointAuthMethodsSupported:         methods,
		RevocationEndpointAuthMethodsSupported:    methods,
		IntrospectionEndpointAuthMethodsSupported: methods[:2],
	}, true})
}

func writeLength(x *exchange, body []byte) error {
	x.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = x.Write(body)
	return nil
}
