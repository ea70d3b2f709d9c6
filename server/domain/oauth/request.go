package oauth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/zitadel/oidc/v3/pkg/oidc"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/predicate"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/store"
)

// maxState is the maximum length of a client's state, in characters.
const maxState = 2048

// challengeForm is the form of an S256 challenge: 32 bytes in base64url.
var challengeForm = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// errResponseType returns the error for a response_type, which the library does not
// declare.
func errResponseType() *oidc.Error {
	e := oidc.ErrInvalidRequest().WithDescription("response_type must be code")
	e.ErrorType = "unsupported_response_type"
	return e
}

// Begin stores the request of a client to act for a user, and returns the request's id. The
// caller has checked the client and the redirect URI.
func (s *Service) Begin(ctx context.Context, c *Client, issuer string, r *oidc.AuthRequest) (id string, err error) {
	scopes, err := c.checkRequest(r)
	if err != nil {
		return "", err
	}
	id = rand.Text() + rand.Text()
	return id, s.create(ctx, id, func(create *ent.AuthorizationCreate) {
		create.SetClientID(c.ID).SetScopes(strings.Join(scopes, " ")).SetIssuer(issuer).SetIsDevice(false).
			SetRedirectURI(r.RedirectURI).SetState(r.State).SetCodeChallenge(r.CodeChallenge)
	})
}

// checkRequest validates what a client asks for, and returns the scopes.
func (c *Client) checkRequest(r *oidc.AuthRequest) (scopes []string, err error) {
	switch {
	case r.RequestParam != "":
		return nil, oidc.ErrRequestNotSupported().WithDescription("request objects are not supported")
	case r.ResponseType == "":
		return nil, oidc.ErrInvalidRequest().WithDescription("response_type is required")
	case r.ResponseType != oidc.ResponseTypeCode:
		return nil, errResponseType()
	case r.ResponseMode != "" && r.ResponseMode != oidc.ResponseModeQuery:
		return nil, oidc.ErrInvalidRequest().WithDescription("response_mode must be query")
	case r.CodeChallenge == "":
		return nil, oidc.ErrInvalidRequest().WithDescription("code_challenge is required (PKCE)")
	case r.CodeChallengeMethod != oidc.CodeChallengeMethodS256:
		return nil, oidc.ErrInvalidRequest().WithDescription("code_challenge_method must be S256")
	case !challengeForm.MatchString(r.CodeChallenge):
		return nil, oidc.ErrInvalidRequest().WithDescription("code_challenge must be 32 bytes in base64url, without padding")
	case !utf8.ValidString(r.State) || utf8.RuneCountInString(r.State) > maxState:
		return nil, oidc.ErrInvalidRequest().WithDescription("state must be at most %d characters", maxState)
	}
	return c.CheckScopes(r.Scopes)
}

// create stores a request under the digest of its id.
func (s *Service) create(ctx context.Context, id string, fill func(*ent.AuthorizationCreate)) error {
	secret := make([]byte, sha256.Size)
	_, _ = rand.Read(secret) // never fails
	return s.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, attempt store.Attempt) error {
		now, err := s.Store.Clock.Now(ctx, tx)
		if err != nil {
			return err
		}
		end := now.Add(RequestLifetime)
		create := tx.Authorization.Create().SetID(digest.Of(id)).SetSecret(secret).SetStatus(pending).
			SetCreatedAt(now).SetExpiresAt(end).SetKeptUntil(end.Add(keptAfterEnd))
		fill(create)
		err = create.Exec(ctx)
		if attempt.Unknown && s.Store.IsDuplicate(err) {
			return store.ErrCommitted
		}
		return err
	})
}

// codeOf returns the code of an approved request. It depends on the request's id, which is
// not stored, and on a secret, which only the database holds. So a repeated approval has
// the same code, but neither whoever began the request nor a reader of the database knows
// it.
func codeOf(secret []byte, requestID string) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(requestID))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// lock locks the request that a condition finds, and returns it with the time; nil if there
// is none.
func (s *Service) lock(ctx context.Context, tx *ent.Tx, where predicate.Authorization) (*ent.Authorization, instant.Instant, error) {
	row, err := tx.Authorization.Query().Where(where, store.LockForUpdate).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	now, err := s.Store.Clock.Now(ctx, tx)
	return row, now, err
}

// GetRequest returns a request that waits for a decision.
func (s *Service) GetRequest(ctx context.Context, req *platformv1.GetRequestRequest) (*platformv1.GetRequestResponse, error) {
	id := req.GetRequestId()
	if (id == "") == (req.GetUserCode() == "") {
		return nil, apierr.Invalid(apierr.Violation{Field: "requestId", Description: "must be given, or else userCode"})
	}
	if id == "" {
		id = ReadUserCode(req.GetUserCode())
	}
	return s.Request(ctx, id)
}

// Request returns a request that waits for a decision, by its id.
func (s *Service) Request(ctx context.Context, id string) (*platformv1.GetRequestResponse, error) {
	row, err := s.Store.Read.Authorization.Get(ctx, digest.Of(id))
	if ent.IsNotFound(err) {
		return nil, errNoRequest
	}
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	now, err := s.Store.Clock.Now(ctx, s.Store.Read)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	c, err := s.Client(ctx, row.ClientID)
	if err != nil {
		return nil, err
	}
	if row.Status != pending || now >= row.ExpiresAt || c == nil {
		return nil, errNoRequest
	}
	result := &platformv1.GetRequestResponse{
		RequestId: id, ClientId: c.ID, ClientName: c.Name, Scopes: strings.Fields(row.Scopes),
		RedirectUri: row.RedirectURI, ExpiresAt: row.ExpiresAt.Proto(),
	}
	if row.IsDevice {
		result.UserCode = showUserCode(id)
	}
	return result, nil
}

// RedirectTo returns a redirect URI with the parameters of a response. iss names the server
// that responds, so that a client which uses several servers notices a mix-up (RFC 9207).
func RedirectTo(uri, state, issuer string, parameters url.Values) string {
	if state != "" {
		parameters.Set("state", state)
	}
	parameters.Set("iss", issuer)
	separator := "?"
	if strings.Contains(uri, "?") {
		separator = "&"
	}
	return uri + separator + parameters.Encode()
}

// ErrorParameters returns the parameters of a response for an error.
func ErrorParameters(e *oidc.Error) url.Values {
	parameters := url.Values{"error": {string(e.ErrorType)}}
	if e.Description != "" {
		parameters.Set("error_description", e.Description)
	}
	return parameters
}
