package signin

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"golang.org/x/oauth2"
	"google.golang.org/protobuf/types/known/structpb"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/jsonapi"
	"github.com/moderato-live/moderato/internal/spelling"
	"github.com/moderato-live/moderato/server/domain/oauth"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

// The names of the fields, in the spelling of the API's own clients.
const (
	clientIDField     = "clientId"
	clientSecretField = "clientSecret"
	redirectURIField  = "redirectUri"
	scopesField       = "scopes"
	grantTypeField    = "grantType"
	codeField         = "code"
	codeVerifierField = "codeVerifier"
	refreshTokenField = "refreshToken"
)

// call is a request in the spelling of the API's own clients.
type call struct {
	clientID, clientSecret, redirectURI, grantType, code, codeVerifier, refreshToken string
	scopes                                                                           []string
}

// readCall decodes the body of a request. Unknown fields are ignored, but misspelt ones are
// refused.
func readCall(x *exchange) (c call, err error) {
	body, err := io.ReadAll(x.r.Body)
	if err != nil {
		return c, err
	}
	if err := checkObject(body); err != nil {
		return c, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return c, err
	}
	fields := map[string]*string{
		clientIDField: &c.clientID, clientSecretField: &c.clientSecret, redirectURIField: &c.redirectURI,
		grantTypeField: &c.grantType, codeField: &c.code, codeVerifierField: &c.codeVerifier, refreshTokenField: &c.refreshToken,
	}
	var f validate.Fields
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value := members[name]
		switch to := fields[name]; {
		case name == scopesField:
			var isOK bool
			if c.scopes, isOK = readScopes(value); !isOK {
				f.Add(name, "must be an array of strings, or a string")
			}
		case to != nil && json.Unmarshal(value, to) != nil:
			f.Add(name, "must be a string")
		case to == nil:
			if meant := intended(fields, name); meant != "" {
				f.Add(name, apierr.UnknownPrefix+"field "+name+"; did you mean "+meant+"?")
			}
		}
	}
	return c, f.Err()
}

// checkObject returns an error if a body is not a JSON object as all operations accept it,
// without duplicate keys.
func checkObject(body []byte) error {
	var wrong *jsonapi.Error
	if !errors.As(jsonapi.Unmarshal(body, new(structpb.Struct), jsonapi.Options{}), &wrong) {
		return nil
	}
	violations := make([]apierr.Violation, len(wrong.Violations))
	for i, v := range wrong.Violations {
		violations[i] = apierr.Violation{Field: v.Field, Description: v.Description}
	}
	return apierr.Invalid(violations...)
}

// readScopes decodes scopes: an array, or one string separated by spaces.
func readScopes(value json.RawMessage) (scopes []string, ok bool) {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return strings.Fields(text), true
	}
	return scopes, json.Unmarshal(value, &scopes) == nil
}

// intended returns the field of which a name is another spelling; empty if there is none.
func intended(fields map[string]*string, name string) string {
	if spelling.Fold(name) == spelling.Fold(scopesField) {
		return scopesField
	}
	for field := range fields {
		if spelling.Fold(field) == spelling.Fold(name) {
			return field
		}
	}
	return ""
}

// client returns the client of a call.
func (h *handler) client(x *exchange, c call) (*oauth.Client, error) {
	ctx := x.r.Context()
	var f validate.Fields
	if c.clientID == "" {
		f.Add(clientIDField, "is required")
		return nil, f.Err()
	}
	found, err := h.authenticate(ctx, c.clientID, c.clientSecret)
	if isWrong := new(oidc.Error); errors.As(err, &isWrong) {
		if known, failed := h.Service.Client(ctx, c.clientID); failed == nil && known == nil {
			f.Add(clientIDField, "must be the id of a client")
			return nil, f.Err()
		}
	}
	return found, inEnvelope(err)
}

// inEnvelope returns the error of the protocol as the envelope shows it.
func inEnvelope(err error) error {
	var e *oidc.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.ErrorType {
	case oidc.InvalidClient:
		return apierr.New(moderatov1.Reason_REASON_CLIENT_CREDENTIALS_INVALID)
	case oidc.InvalidScope:
		return apierr.Invalid(apierr.Violation{Field: scopesField, Description: e.Description})
	case oidc.UnauthorizedClient:
		return apierr.Invalid(apierr.Violation{Field: grantTypeField, Description: e.Description})
	}
	return &apierr.Error{
		Reason:  moderatov1.Reason_REASON_AUTHORIZATION_INVALID,
		Message: "The authorization is not valid: " + e.Description + ". Let the user sign in again.",
	}
}

// begin reads a call within the limits, and returns its client.
func (h *handler) begin(x *exchange) (call, *oauth.Client, error) {
	if err := h.limits.address(x); err != nil {
		return call{}, nil, err
	}
	c, err := readCall(x)
	if err != nil {
		return call{}, nil, err
	}
	client, err := h.client(x, c)
	return c, client, err
}

// generateURL returns a URL that begins a sign-in, with the state and the PKCE verifier
// that the client must keep. Nothing is stored.
func (h *handler) generateURL(x *exchange) error {
	c, client, err := h.begin(x)
	if err != nil {
		return err
	}
	var f validate.Fields
	if c.redirectURI == "" {
		f.Add(redirectURIField, "is required")
	} else if !h.hasRedirectURI(client, x.issuer, c.redirectURI) {
		f.Add(redirectURIField, "must be one of those that are registered for the client")
	}
	if len(c.scopes) == 0 {
		c.scopes = client.Scopes
	}
	scopes, err := client.CheckScopes(c.scopes)
	var e *oidc.Error
	if errors.As(err, &e) {
		f.Add(scopesField, strings.TrimPrefix(e.Description, "scope "))
	}
	if err := f.Err(); err != nil {
		return err
	}
	state, verifier := rand.Text(), oauth2.GenerateVerifier()
	query := url.Values{
		"response_type": {"code"}, "client_id": {client.ID}, "redirect_uri": {c.redirectURI}, "scope": {strings.Join(scopes, " ")},
		"state": {state}, "code_challenge": {oauth2.S256ChallengeFromVerifier(verifier)}, "code_challenge_method": {"S256"},
	}
	return writeJSON(x, struct {
		URL          string `json:"url"`
		State        string `json:"state"`
		CodeVerifier string `json:"codeVerifier"`
	}{x.issuer + AuthorizePath + "?" + query.Encode(), state, verifier})
}

// exchange exchanges a code or the client's credentials, for tokens.
func (h *handler) exchange(x *exchange) error {
	c, client, err := h.begin(x)
	if err != nil {
		return err
	}
	if c.grantType == "" && c.code != "" {
		c.grantType = string(oidc.GrantTypeCode)
	}
	var f validate.Fields
	switch c.grantType {
	case string(oidc.GrantTypeClientCredentials):
		t, err := h.Service.IssueApp(x.r.Context(), client, c.scopes)
		return writeTokens(x, t, err)
	case string(oidc.GrantTypeCode):
		for _, field := range [][2]string{{codeField, c.code}, {codeVerifierField, c.codeVerifier}, {redirectURIField, c.redirectURI}} {
			if field[1] == "" {
				f.Add(field[0], "is required")
			}
		}
	default:
		f.Add(grantTypeField, "must be authorization_code or client_credentials")
	}
	if err := f.Err(); err != nil {
		return err
	}
	t, err := h.Service.RedeemCode(x.r.Context(), client, c.code, c.redirectURI, c.codeVerifier)
	return writeTokens(x, t, err)
}

// refresh exchanges a refresh token for new tokens.
func (h *handler) refresh(x *exchange) error {
	c, client, err := h.begin(x)
	if err != nil {
		return err
	}
	if c.refreshToken == "" {
		return apierr.Invalid(apierr.Violation{Field: refreshTokenField, Description: "is required"})
	}
	t, err := h.Service.Refresh(x.r.Context(), client, c.refreshToken, c.scopes)
	err = inEnvelope(err)
	var refusal *apierr.Error
	if errors.As(err, &refusal) && refusal.Reason == moderatov1.Reason_REASON_AUTHORIZATION_INVALID {
		// Clients recognize by the text that the user has to sign in again.
		refusal.Message = "Invalid refresh token. " + refusal.Message
	}
	return writeTokens(x, t, err)
}

func writeTokens(x *exchange, t *oauth.Tokens, err error) error {
	if err != nil {
		return inEnvelope(err)
	}
	kind, userID := "app", ""
	if !t.UserID.IsZero() {
		kind, userID = "user", t.UserID.String()
	}
	return writeJSON(x, struct {
		AccessToken  string   `json:"accessToken"`
		RefreshToken string   `json:"refreshToken,omitempty"`
		TokenType    string   `json:"tokenType"`
		ExpiresIn    int64    `json:"expiresIn"`
		Scopes       []string `json:"scopes"`
		Type         string   `json:"type"`
		UserID       string   `json:"userId,omitempty"`
	}{t.Access, t.Refresh, oidc.BearerToken, int64(t.Lifetime / time.Second), slices.Clone(t.Scopes), kind, userID})
}

func writeJSON(x *exchange, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return err
	}
	x.Header().Set("Content-Type", "application/json")
	return writeLength(x, body)
}
