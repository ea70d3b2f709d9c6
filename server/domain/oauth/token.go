package oauth

import (
	"context"
	"strings"

	"github.com/zitadel/oidc/v3/pkg/oidc"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/grant"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/secrets"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
)

// IssueApp issues an app token to a client. Empty scopes mean all that it may have.
func (s *Service) IssueApp(ctx context.Context, c *Client, scopes []string) (*Tokens, error) {
	if c.IsPublic {
		return nil, oidc.ErrUnauthorizedClient().WithDescription("a public client has no app tokens")
	}
	if scopes = normal(scopes); len(scopes) == 0 {
		scopes = c.Scopes
	} else if _, err := c.CheckScopes(scopes); err != nil {
		return nil, err
	}
	issued, err := authn.Issue(ctx, s.Store, authn.NewToken{Kind: authn.App, ClientID: c.ID, Scopes: scopes, Lifetime: s.Lifetimes.App})
	if err != nil {
		return nil, ended(err)
	}
	return &Tokens{Access: issued.Text, Lifetime: s.Lifetimes.App, Scopes: scopes}, nil
}

// Revoke revokes a token of a client. A refresh token ends with all tokens of its family. A
// token that is not valid is revoked already.
func (s *Service) Revoke(ctx context.Context, c *Client, text string) error {
	if !secrets.IsWhole(text) {
		return nil
	}
	foreign := oidc.ErrUnauthorizedClient().WithDescription("the token was issued to another client")
	return s.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		now, err := s.Store.Clock.Now(ctx, tx)
		if err != nil {
			return err
		}
		if !strings.HasPrefix(text, authn.RefreshToken) {
			row, err := tx.Token.Get(ctx, digest.Of(text))
			switch {
			case ent.IsNotFound(err):
				return nil
			case err != nil:
				return err
			case row.ClientID != c.ID:
				return foreign
			case row.RevokedAt != nil:
				return nil
			}
			return tx.Token.UpdateOne(row).SetRevokedAt(now).Exec(ctx)
		}
		row, _, err := s.lockRefresh(ctx, tx, text)
		switch {
		case err != nil || row == nil:
			return err
		case row.ClientID != c.ID:
			return foreign
		}
		return s.endFamily(ctx, tx, row.ClientID, row.UserID, row.FamilyID, now)
	})
}

// Introspection is what a token allows now (RFC 7662). Only Active is set if it is not
// valid.
type Introspection struct {
	Active    bool   `json:"active"`
	Scope     string `json:"scope,omitempty"`
	ClientID  string `json:"client_id,omitempty"`
	Subject   string `json:"sub,omitempty"`
	TokenType string `json:"token_type,omitempty"`
	IssuedAt  int64  `json:"iat,omitempty"`
	Expires   int64  `json:"exp,omitempty"`
}

// Introspect returns what a token of the client allows. A token of another client is not
// active, unless one of the platform's own backends asks.
func (s *Service) Introspect(ctx context.Context, c *Client, text string) (Introspection, error) {
	if strings.HasPrefix(text, authn.RefreshToken) {
		return s.introspectRefresh(ctx, c, text)
	}
	row, err := authn.Introspect(ctx, s.Store, text)
	if err != nil || row == nil || (row.ClientID != c.ID && !c.IsService) {
		return Introspection{}, err
	}
	result := Introspection{
		Active: true, Scope: row.Scopes, ClientID: row.ClientID, TokenType: oidc.BearerToken, Subject: row.ClientID,
		IssuedAt: row.IssuedAt.Time().Unix(), Expires: seconds(row.ExpiresAt),
	}
	if row.UserID != nil {
		result.Subject = row.UserID.String()
	}
	return result, nil
}

// introspectRefresh is Introspect for a refresh token: it returns what a refresh would give.
func (s *Service) introspectRefresh(ctx context.Context, c *Client, text string) (Introspection, error) {
	if !secrets.IsWhole(text) {
		return Introspection{}, nil
	}
	row, err := s.Store.Read.RefreshToken.Get(ctx, digest.Of(text))
	if ent.IsNotFound(err) {
		return Introspection{}, nil
	}
	if err != nil {
		return Introspection{}, s.Store.Classify(err)
	}
	now, err := s.Store.Clock.Now(ctx, s.Store.Read)
	isUsed := row.ReplacedAt != nil && now >= row.ReplacedAt.Add(refreshGrace)
	if err != nil || now >= row.ExpiresAt || isUsed || (row.ClientID != c.ID && !c.IsService) {
		return Introspection{}, s.Store.Classify(err)
	}
	if row.ClientID != c.ID {
		if c, err = s.Client(ctx, row.ClientID); err != nil || c == nil {
			return Introspection{}, err
		}
	}
	g, err := s.Store.Read.Grant.Query().Where(grant.ClientID(row.ClientID), grant.UserID(row.UserID)).Only(ctx)
	if ent.IsNotFound(err) {
		return Introspection{}, nil
	}
	if err != nil {
		return Introspection{}, s.Store.Classify(err)
	}
	scopes := scopesAfter(row, g, c)
	if len(scopes) == 0 {
		return Introspection{}, nil
	}
	return Introspection{
		Active: true, Scope: strings.Join(scopes, " "), ClientID: row.ClientID, Subject: row.UserID.String(),
		IssuedAt: row.IssuedAt.Time().Unix(), Expires: seconds(&row.ExpiresAt),
	}, nil
}

func seconds(at *instant.Instant) int64 {
	if at == nil {
		return 0
	}
	return at.Time().Unix()
}
