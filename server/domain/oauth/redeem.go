package oauth

import (
	"context"
	"crypto/subtle"
	"regexp"
	"slices"
	"strings"

	"github.com/zitadel/oidc/v3/pkg/oidc"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/authorization"
	"github.com/moderato-live/moderato/ent/refreshtoken"
	"github.com/moderato-live/moderato/ent/token"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/requestid"
	"github.com/moderato-live/moderato/internal/secrets"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
)

// verifierForm is the form of a PKCE verifier (RFC 7636, section 4.1).
var verifierForm = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)

// draft holds the texts of tokens that are about to be issued. It is made before the
// transaction, so that a repeated attempt recognises its own rows.
type draft struct {
	access, refresh string
	family          uid.ID
}

func newDraft(family uid.ID) (d draft, err error) {
	d.family = family
	if d.access, err = authn.NewText(authn.User); err != nil {
		return d, err
	}
	d.refresh, err = secrets.New(authn.RefreshToken)
	return d, err
}

// RedeemCode exchanges a code for tokens. A code works once: a second use ends the tokens
// that were issued for the first. The use by another client, or without the verifier, leaves the
// code as it is.
func (s *Service) RedeemCode(ctx context.Context, c *Client, code, redirectURI, verifier string) (*Tokens, error) {
	if !verifierForm.MatchString(verifier) {
		return nil, errGrant("code_verifier must be 43 to 128 of A-Z a-z 0-9 . _ ~ -")
	}
	d, err := newDraft(uid.New())
	if err != nil {
		return nil, err
	}
	var issued *Tokens
	var refusal error
	err = s.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		issued, refusal = nil, nil
		row, now, err := s.lock(ctx, tx, authorization.Code(digest.Of(code)))
		if err != nil {
			return err
		}
		challenge := oidc.NewSHACodeChallenge(verifier)
		switch {
		case row == nil || row.IsDevice || row.ClientID != c.ID:
			return errGrant("the code is not valid")
		case row.Status == redeemed && *row.FamilyID == d.family: // an earlier attempt committed
			issued = s.tokens(d, *row.UserID, strings.Fields(row.Granted))
			return store.ErrCommitted
		case row.Status == redeemed:
			refusal = errGrant("the code was used before; the tokens issued for it are revoked")
			return s.endFamily(ctx, tx, row.ClientID, *row.UserID, *row.FamilyID, now)
		case row.Status != approved || now >= *row.CodeExpiresAt:
			return errGrant("the code is not valid")
		case row.RedirectURI != redirectURI:
			return errGrant("redirect_uri is not that of the authorization request")
		case subtle.ConstantTimeCompare([]byte(challenge), []byte(row.CodeChallenge)) != 1:
			return errGrant("code_verifier does not match the code_challenge")
		}
		issued, err = s.redeem(ctx, tx, c, row, d, now)
		return err
	})
	if err != nil {
		return nil, ended(err)
	}
	if refusal != nil {
		s.Log.WarnContext(ctx, "an authorization code was used again; the tokens issued for it are revoked",
			"client_id", c.ID, "request_id", requestid.FromContext(ctx))
	}
	return issued, refusal
}

// redeem issues the tokens of an approved request.
func (s *Service) redeem(ctx context.Context, tx *ent.Tx, c *Client, row *ent.Authorization, d draft, now instant.Instant) (*Tokens, error) {
	scopes := strings.Fields(row.Granted)
	g, err := lockGrant(ctx, tx, c.ID, *row.UserID)
	if err != nil {
		return nil, err
	}
	if g == nil || len(common(scopes, strings.Fields(g.Scopes))) < len(scopes) {
		return nil, errGrant("the user has revoked the approval")
	}
	if err := s.issue(ctx, tx, c, *row.UserID, scopes, scopes, d, now); err != nil {
		return nil, err
	}
	err = tx.Authorization.UpdateOne(row).SetStatus(redeemed).SetFamilyID(d.family).SetKeptUntil(now.Add(keptRedeemed)).Exec(ctx)
	return s.tokens(d, *row.UserID, scopes), err
}

// issue stores an access token, and a refresh token if the user approved one. The caller
// has locked the grant. scopes are those of the access token, and family those that a
// refresh may have.
func (s *Service) issue(ctx context.Context, tx *ent.Tx, c *Client, userID uid.ID, scopes, family []string, d draft, now instant.Instant) error {
	t := authn.NewToken{Kind: authn.User, ClientID: c.ID, UserID: userID, Scopes: scopes, Lifetime: s.Lifetimes.User, Family: d.family}
	if _, err := authn.Create(ctx, s.Store, tx, d.access, t, now); err != nil {
		return err
	}
	if !slices.Contains(family, authn.OfflineAccess) {
		return nil
	}
	return tx.RefreshToken.Create().SetID(digest.Of(d.refresh)).SetFamilyID(d.family).SetClientID(c.ID).SetUserID(userID).
		SetScopes(strings.Join(family, " ")).SetIssuedAt(now).SetExpiresAt(now.Add(refreshLifetime)).Exec(ctx)
}

// tokens returns the tokens of a draft as the client gets them.
func (s *Service) tokens(d draft, userID uid.ID, scopes []string) *Tokens {
	t := &Tokens{Access: d.access, Lifetime: s.Lifetimes.User, Scopes: scopes, UserID: userID}
	if slices.Contains(scopes, authn.OfflineAccess) {
		t.Refresh = d.refresh
	}
	return t
}

// endFamily ends all tokens of a family.
func (s *Service) endFamily(ctx context.Context, tx *ent.Tx, clientID string, userID, family uid.ID, now instant.Instant) error {
	if _, err := lockGrant(ctx, tx, clientID, userID); err != nil {
		return err
	}
	err := tx.Token.Update().Where(token.FamilyID(family), token.RevokedAtIsNil()).SetRevokedAt(now).Exec(ctx)
	if err != nil {
		return err
	}
	_, err = tx.RefreshToken.Delete().Where(refreshtoken.FamilyID(family)).Exec(ctx)
	return err
}
