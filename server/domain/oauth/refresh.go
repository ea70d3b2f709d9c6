package oauth

import (
	"context"
	"slices"
	"strings"

	"github.com/zitadel/oidc/v3/pkg/oidc"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/refreshtoken"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/requestid"
	"github.com/moderato-live/moderato/internal/secrets"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
)

// Refresh exchanges a refresh token for new tokens. A refresh token can be used again for
// refreshGrace after its first use, and has at most two successors that can be used. A later use
// ends the whole family, and so does the use of a successor that was replaced, because somebody
// else may have the token. scopes narrow the access token; empty means all.
func (s *Service) Refresh(ctx context.Context, c *Client, text string, scopes []string) (*Tokens, error) {
	if !strings.HasPrefix(text, authn.RefreshToken) || !secrets.IsWhole(text) {
		return nil, errGrant("the refresh token is not valid")
	}
	d, err := newDraft(uid.ID{})
	if err != nil {
		return nil, err
	}
	var issued *Tokens
	var refusal error
	err = s.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, attempt store.Attempt) error {
		issued, refusal = nil, nil
		row, g, err := s.lockRefresh(ctx, tx, text)
		if err != nil {
			return err
		}
		now, err := s.Store.Clock.Now(ctx, tx)
		if err != nil {
			return err
		}
		switch {
		case row == nil || row.ClientID != c.ID || now >= row.ExpiresAt:
			return errGrant("the refresh token is not valid")
		case row.ReplacedAt != nil && now >= row.ReplacedAt.Add(refreshGrace):
			refusal = errGrant("the refresh token was used before; all tokens of its sign-in are revoked")
			return s.endFamily(ctx, tx, row.ClientID, row.UserID, row.FamilyID, now)
		case g == nil:
			return errGrant("the user has revoked the approval")
		}
		d.family = row.FamilyID
		issued, err = s.rotate(ctx, tx, c, row, g, d, normal(scopes), attempt, now)
		return err
	})
	if err != nil {
		return nil, ended(err)
	}
	if refusal != nil {
		s.Log.WarnContext(ctx, "a refresh token was used again after its replacement; all tokens of its sign-in are revoked",
			"client_id", c.ID, "request_id", requestid.FromContext(ctx))
	}
	return issued, refusal
}

// lockRefresh returns a refresh token and the grant on which it rests, which it locks; nil
// for what does not exist.
func (s *Service) lockRefresh(ctx context.Context, tx *ent.Tx, text string) (*ent.RefreshToken, *ent.Grant, error) {
	query := tx.RefreshToken.Query().Where(refreshtoken.ID(digest.Of(text)))
	row, err := query.Clone().Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	g, err := lockGrant(ctx, tx, row.ClientID, row.UserID)
	if err != nil {
		return nil, nil, err
	}
	// The family may have ended, or the token may have been used, before the lock.
	row, err = query.Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil, nil
	}
	return row, g, err
}

// scopesAfter returns the scopes that a refresh gives: those of the token, of the grant and of
// the client. It returns none if the refresh token can no longer be used.
func scopesAfter(row *ent.RefreshToken, g *ent.Grant, c *Client) []string {
	family := common(common(strings.Fields(row.Scopes), strings.Fields(g.Scopes)), c.Scopes)
	if !slices.Contains(family, authn.OfflineAccess) {
		return nil
	}
	return family
}

// rotate issues the tokens that follow a refresh token.
func (s *Service) rotate(
	ctx context.Context, tx *ent.Tx, c *Client, row *ent.RefreshToken, g *ent.Grant, d draft, asked []string, attempt store.Attempt, now instant.Instant,
) (*Tokens, error) {
	family := scopesAfter(row, g, c)
	if len(family) == 0 {
		return nil, errGrant("the user has revoked the approval")
	}
	scopes := family
	if len(asked) > 0 {
		if len(common(asked, strings.Fields(row.Scopes))) < len(asked) {
			return nil, oidc.ErrInvalidScope().WithDescription("a refresh cannot add scopes")
		}
		if scopes = common(asked, family); len(scopes) == 0 {
			return nil, oidc.ErrInvalidScope().WithDescription("the scopes are no longer granted")
		}
	}
	issued := &Tokens{Access: d.access, Refresh: d.refresh, Lifetime: s.Lifetimes.User, Scopes: scopes, UserID: row.UserID}
	if attempt.Unknown {
		isThere, err := tx.RefreshToken.Query().Where(refreshtoken.ID(digest.Of(d.refresh))).Exist(ctx)
		if err != nil {
			return nil, err
		}
		if isThere {
			return issued, store.ErrCommitted
		}
	}
	if err := replace(ctx, tx, row, digest.Of(d.refresh), now); err != nil {
		return nil, err
	}
	return issued, s.issue(ctx, tx, c, row.UserID, scopes, family, d, now)
}

// replace stores the next successor of a refresh token. A client that refreshes twice at the
// same moment uses either of two successors. Each further use replaces the older one that was
// not used, so that no third chain of tokens begins.
func replace(ctx context.Context, tx *ent.Tx, row *ent.RefreshToken, next digest.SHA256, now instant.Instant) error {
	update := tx.RefreshToken.UpdateOne(row).SetLatestSuccessor(next)
	if row.ReplacedAt == nil {
		return update.SetReplacedAt(now).Exec(ctx)
	}
	kept := row.LatestSuccessor
	if row.EarlierSuccessor != nil {
		replaced, err := endUnused(ctx, tx, now, *row.EarlierSuccessor, *row.LatestSuccessor)
		if err != nil {
			return err
		}
		if replaced == *kept {
			kept = row.EarlierSuccessor
		}
	}
	return update.SetEarlierSuccessor(*kept).Exec(ctx)
}

// endUnused ends the first of the refresh tokens that was not used, and returns it: from now on
// its use ends the family. It refuses the request if all were used.
func endUnused(ctx context.Context, tx *ent.Tx, now instant.Instant, tokens ...digest.SHA256) (ended digest.SHA256, err error) {
	for _, id := range tokens {
		n, err := tx.RefreshToken.Update().Where(refreshtoken.ID(id), refreshtoken.ReplacedAtIsNil()).SetReplacedAt(now.Add(-refreshGrace)).Save(ctx)
		if n > 0 || err != nil {
			return id, err
		}
	}
	return ended, errGrant("the refresh token was used before, and so were the tokens that replaced it")
}
