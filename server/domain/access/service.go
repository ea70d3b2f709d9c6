package access

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/grant"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/secrets"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// maxLifetime bounds the lifetime of a token. A longer one is a mistake, or is meant
// to be unlimited.
const maxLifetime = 100 * 365 * 24 * time.Hour

// Service serves AccessService, except for the deletion of clients.
type Service struct {
	// Store is the database.
	Store *store.Store
	// Lifetimes are the lifetimes of tokens that are issued without one.
	Lifetimes authn.Lifetimes
}

// PutClient creates or replaces a client.
func (s *Service) PutClient(ctx context.Context, req *platformv1.PutClientRequest) (*platformv1.PutClientResponse, error) {
	var row *ent.Application
	var secret string
	if req.GetNewSecret() {
		if req.GetClient().GetPublic() {
			return nil, apierr.Invalid(apierr.Violation{Field: "newSecret", Description: "must not be set for a public client"})
		}
		var err error
		if secret, err = secrets.New(authn.ClientSecret); err != nil {
			return nil, err
		}
	}
	respond := idempotency.Response(ctx, func() *platformv1.PutClientResponse {
		return &platformv1.PutClientResponse{Client: clientRecord(row), ClientSecret: secret}
	})
	// A client that is no longer a service client loses its service tokens.
	endsOwn := !req.GetClient().GetService() && isOwn(ctx, req.GetClient().GetId())
	err := feed.WriteEnding(ctx, s.Store, endsOwn, func(ctx context.Context, tx feed.Tx) error {
		var err error
		if row, err = putClient(ctx, tx, req.GetClient()); err != nil || secret == "" {
			return err
		}
		return tx.Application.UpdateOneID(row.ID).SetSecret(digest.Of(secret)).ClearPreviousSecret().ClearPreviousSecretUntil().Exec(ctx)
	})
	if err != nil {
		return nil, apierr.In("client", err)
	}
	return respond(), nil
}

// isOwn reports whether the caller's token was issued to a client.
func isOwn(ctx context.Context, clientID string) bool {
	return authn.FromContext(ctx).ClientID == clientID
}

// GetClient returns a client.
func (s *Service) GetClient(ctx context.Context, req *platformv1.GetClientRequest) (*platformv1.GetClientResponse, error) {
	f := validate.Of(req)
	id := f.Identifier("clientId", req.GetClientId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	row, err := s.Store.Read.Application.Get(ctx, id)
	if ent.IsNotFound(err) {
		return nil, apierr.New(moderatov1.Reason_REASON_CLIENT_NOT_FOUND)
	}
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	return &platformv1.GetClientResponse{Client: clientRecord(row)}, nil
}

// PutGrant sets the scopes that a user grants to a client.
func (s *Service) PutGrant(ctx context.Context, req *platformv1.PutGrantRequest) (*platformv1.PutGrantResponse, error) {
	var row *ent.Grant
	respond := idempotency.Response(ctx, func() *platformv1.PutGrantResponse {
		return &platformv1.PutGrantResponse{Grant: grantRecord(row)}
	})
	err := feed.Write(ctx, s.Store, func(ctx context.Context, tx feed.Tx) error {
		var err error
		row, err = putGrant(ctx, tx, req.GetGrant())
		return err
	})
	if err != nil {
		return nil, apierr.In("grant", err)
	}
	return respond(), nil
}

// maxGrants is the maximum number of grants that ListGrants returns; more are an
// error.
const maxGrants = 1000

// ListGrants returns the grants of a user.
func (s *Service) ListGrants(ctx context.Context, req *platformv1.ListGrantsRequest) (*platformv1.ListGrantsResponse, error) {
	f := validate.Of(req)
	userID := f.UUID("userId", req.GetUserId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	if _, err := users.Get(ctx, s.Store.Read.User, userID); err != nil {
		return nil, s.Store.Classify(err)
	}
	rows, err := s.Store.Read.Grant.Query().
		Where(grant.UserID(userID), grant.ScopesNEQ("")).
		Order(ent.Asc(grant.FieldClientID)).
		Limit(maxGrants + 1).
		All(ctx)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	if len(rows) > maxGrants {
		return nil, &apierr.Error{
			Reason:  moderatov1.Reason_REASON_RESULT_TOO_LARGE,
			Message: fmt.Sprintf("The user has granted scopes to more than %d clients, which cannot be listed.", maxGrants),
		}
	}
	result := &platformv1.ListGrantsResponse{}
	for _, g := range rows {
		result.Grants = append(result.Grants, grantRecord(g))
	}
	return result, nil
}

var kinds = map[platformv1.TokenKind]authn.Kind{
	platformv1.TokenKind_TOKEN_KIND_USER:    authn.User,
	platformv1.TokenKind_TOKEN_KIND_APP:     authn.App,
	platformv1.TokenKind_TOKEN_KIND_SERVICE: authn.Service,
}

// IssueToken issues a token.
func (s *Service) IssueToken(ctx context.Context, req *platformv1.IssueTokenRequest) (*platformv1.IssueTokenResponse, error) {
	t, err := s.parseToken(req)
	if err != nil {
		return nil, err
	}
	t.Admit = func(ctx context.Context, tx *ent.Tx) error { return authz.Reauthenticate(ctx, s.Store, tx) }
	var result *platformv1.IssueTokenResponse
	idempotency.Result(ctx, &result)
	t.Issued = func(issued authn.Issued) {
		result = &platformv1.IssueTokenResponse{Token: issued.Text}
		if issued.ExpiresAt != nil {
			result.ExpiresAt = issued.ExpiresAt.Proto()
		}
	}
	if _, err := authn.Issue(ctx, s.Store, t); err != nil {
		return nil, err
	}
	return result, nil
}

func (s *Service) parseToken(req *platformv1.IssueTokenRequest) (authn.NewToken, error) {
	f := validate.Of(req)
	t := authn.NewToken{ClientID: f.Identifier("clientId", req.GetClientId()), Scopes: scopes(f, req.GetScopes())}
	var known bool
	if t.Kind, known = kinds[req.GetKind()]; !known {
		f.Add("kind", "must be one of TOKEN_KIND_USER, TOKEN_KIND_APP, TOKEN_KIND_SERVICE")
	}
	switch {
	case t.Kind == authn.User:
		t.UserID = f.UUID("userId", req.GetUserId())
	case req.GetUserId() != "":
		f.Add("userId", "must be empty unless the token is a user's")
	}
	if t.Kind == authn.Service && len(t.Scopes) > 0 {
		f.Add("scopes", "must be empty: a service token has every scope")
	}
	t.Lifetime = s.Lifetimes.Of(t.Kind)
	if req.GetLifetime() != nil {
		t.Lifetime = req.GetLifetime().AsDuration()
		if req.GetLifetime().CheckValid() != nil || t.Lifetime < time.Millisecond || t.Lifetime > maxLifetime {
			f.Add("lifetime", "must be more than 0 and at most 36500 days")
		}
	}
	return t, f.Err()
}

// RevokeToken revokes a token.
func (s *Service) RevokeToken(ctx context.Context, req *platformv1.RevokeTokenRequest) (*platformv1.RevokeTokenResponse, error) {
	f := validate.Of(req)
	if req.GetToken() == "" {
		f.Add("token", "is required")
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	endsOwn := authn.FromContext(ctx).Token == digest.Of(req.GetToken())
	_, err := authn.Revoke(ctx, s.Store, req.GetToken(), func(ctx context.Context, tx *ent.Tx, attempt store.Attempt) error {
		return authz.ReauthenticateAttempt(ctx, s.Store, tx, attempt, endsOwn)
	})
	return &platformv1.RevokeTokenResponse{}, err
}

// IntrospectToken returns whether a token is active, and its kind, client, user,
// scopes and times.
func (s *Service) IntrospectToken(ctx context.Context, req *platformv1.IntrospectTokenRequest) (*platformv1.IntrospectTokenResponse, error) {
	f := validate.Of(req)
	if req.GetToken() == "" {
		f.Add("token", "is required")
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	row, err := authn.Introspect(ctx, s.Store, req.GetToken())
	if err != nil || row == nil {
		return &platformv1.IntrospectTokenResponse{}, err
	}
	result := &platformv1.IntrospectTokenResponse{
		Active: true, ClientId: row.ClientID, Scopes: strings.Fields(row.Scopes), IssuedAt: row.IssuedAt.Proto(),
	}
	for kind, name := range kinds {
		if string(name) == row.Kind {
			result.Kind = kind
		}
	}
	if row.Kind == string(authn.Service) {
		result.Scopes = slices.Sorted(slices.Values(authn.Scopes()))
	}
	if row.UserID != nil {
		result.UserId = row.UserID.String()
	}
	if row.ExpiresAt != nil {
		result.ExpiresAt = row.ExpiresAt.Proto()
	}
	return result, nil
}
