package moderato

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	// tokenPath is the path at which a server issues tokens.
	tokenPath = "/oauth2/token"
	// maxRefusal bounds how much of the response of a server is read.
	maxRefusal = 64 << 10
	// refreshTimeout bounds the refresh of a token, unless the program's HTTP client has a
	// timeout. A server responds or fails within 15 s.
	refreshTimeout = 20 * time.Second
)

// StaticToken returns a token source that always returns the same access token.
func StaticToken(token string) oauth2.TokenSource {
	return oauth2.StaticTokenSource(&oauth2.Token{AccessToken: token})
}

// Endpoint returns the OAuth endpoints of a server at a REST address, such as
// "https://moderato.example.com". With it, an oauth2.Config signs users in with the
// authorization code flow or the device flow, and TokenSource refreshes their tokens.
func Endpoint(address string) oauth2.Endpoint {
	address = strings.TrimSuffix(address, "/")
	return oauth2.Endpoint{
		AuthURL:       address + "/oauth2/authorize",
		DeviceAuthURL: address + "/oauth2/device_authorization",
		TokenURL:      address + tokenPath,
		AuthStyle:     oauth2.AuthStyleInParams,
	}
}

// TokenSource returns the token source of an oauth2.Config, which refreshes a token. A refresh
// ends after 20 s at the latest, or after the timeout of the http.Client of the context, as
// oauth2 has it. The source of the oauth2.Config itself has no timeout: while a server does
// not respond to its refresh, no call gets a token.
func TokenSource(ctx context.Context, conf *oauth2.Config, token *oauth2.Token) oauth2.TokenSource {
	client := *oauth2.NewClient(ctx, nil) // the http.Client of the context
	if client.Timeout == 0 {
		client.Timeout = refreshTimeout
	}
	return conf.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, &client), token)
}

// SignOut ends the tokens of a sign-in. conf is the configuration with which the user signed
// in, with an Endpoint of this package, and token the newest token. The other tokens that the
// client has for the user stay valid. An *oauth2.RetrieveError has the response of a server
// that refused the call.
func SignOut(ctx context.Context, conf *oauth2.Config, token *oauth2.Token) error {
	text := token.RefreshToken
	if text == "" {
		text = token.AccessToken
	}
	form := url.Values{"client_id": {conf.ClientID}, "token": {text}}
	if conf.ClientSecret != "" {
		form.Set("client_secret", conf.ClientSecret)
	}
	address := strings.TrimSuffix(conf.Endpoint.TokenURL, tokenPath) + "/oauth2/revoke"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := oauth2.NewClient(ctx, nil).Do(request) // with the http.Client of the context, as oauth2 has it
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxRefusal))
	if err != nil || response.StatusCode == http.StatusOK {
		return err
	}
	return &oauth2.RetrieveError{Response: response, Body: body}
}

// SaveTokens returns a token source that calls save with each new token of a source
// before it returns the token. A refresh token is replaced with each refresh, so a
// program that stores one must store every new one. An error of save is the error of the
// token.
func SaveTokens(source oauth2.TokenSource, save func(*oauth2.Token) error) oauth2.TokenSource {
	return &savingSource{source: source, save: save}
}

type savingSource struct {
	source oauth2.TokenSource
	save   func(*oauth2.Token) error

	mu    sync.Mutex
	saved string // the access token that was saved last
}

// Token returns the token of the source.
func (s *savingSource) Token() (*oauth2.Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	token, err := s.source.Token()
	if err != nil || token.AccessToken == s.saved {
		return token, err
	}
	if err := s.save(token); err != nil {
		return nil, err
	}
	s.saved = token.AccessToken
	return token, nil
}

type actingUserKey struct{}

// ActingAs returns a context for calls in which a service token acts for a user. An empty
// id makes the token act for no user.
func ActingAs(ctx context.Context, userID string) context.Context {
	return context.WithValue(ctx, actingUserKey{}, userID)
}

// caller adds the credentials to each attempt of a call.
type caller struct {
	Config

	fetches singleflight.Group
}

// GetRequestMetadata returns the token, the client id and the acting user.
func (c *caller) GetRequestMetadata(ctx context.Context, _ ...string) (map[string]string, error) {
	token, err := c.token(ctx)
	if err != nil {
		return nil, err
	}
	headers := map[string]string{"authorization": "Bearer " + token.AccessToken, "client-id": c.ClientID}
	user, ok := ctx.Value(actingUserKey{}).(string)
	if !ok {
		user = c.ActingUser
	}
	if user != "" {
		headers["acting-user"] = user
	}
	return headers, nil
}

// token returns a token of the source. A source takes no context, so calls that ask at the
// same time wait for one goroutine, each until its own context ends.
func (c *caller) token(ctx context.Context) (*oauth2.Token, error) {
	fetched := c.fetches.DoChan("", func() (any, error) { return c.Tokens.Token() })
	var code codes.Code
	var err error
	select {
	case r := <-fetched:
		if r.Err == nil {
			return r.Val.(*oauth2.Token), nil
		}
		code, err = tokenErrorCode(r.Err), r.Err
	case <-ctx.Done():
		code, err = status.FromContextError(ctx.Err()).Code(), ctx.Err()
	}
	return nil, status.Error(code, "no access token: "+err.Error())
}

// RequireTransportSecurity reports whether the token may only be sent over TLS.
func (c *caller) RequireTransportSecurity() bool { return !c.Plaintext }

// tokenErrorCode returns UNAUTHENTICATED if the server refused to issue a token, and
// UNAVAILABLE, which is worth a retry, if it could not be asked.
func tokenErrorCode(err error) codes.Code {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		return codes.Unavailable
	}
	if code := refused.Response.StatusCode; code >= http.StatusInternalServerError || code == http.StatusTooManyRequests {
		return codes.Unavailable
	}
	return codes.Unauthenticated
}
