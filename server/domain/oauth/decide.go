package oauth

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/zitadel/oidc/v3/pkg/oidc"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/authorization"
	"github.com/moderato-live/moderato/ent/grant"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// Decision is what a user decides about a request. The zero Decision denies.
type Decision struct {
	// User approves; zero if nobody does.
	User uid.ID
	// Scopes are those that the user approves.
	Scopes []string
}

// Approve implements AuthorizationService.
func (s *Service) Approve(ctx context.Context, req *platformv1.ApproveRequest) (*platformv1.ApproveResponse, error) {
	f := validate.Of(req)
	if req.GetRequestId() == "" {
		f.Add("requestId", "is required")
	}
	d := Decision{User: f.UUID("userId", req.GetUserId()), Scopes: normal(req.GetScopes())}
	if f.AtMost("scopes", len(req.GetScopes())) && len(d.Scopes) == 0 {
		f.Add("scopes", "is required")
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	result := &platformv1.ApproveResponse{}
	idempotency.Result(ctx, &result)
	return result, s.Decide(ctx, req.GetRequestId(), d, &result.RedirectTo, s.reauthenticate)
}

// Deny implements AuthorizationService.
func (s *Service) Deny(ctx context.Context, req *platformv1.DenyRequest) (*platformv1.DenyResponse, error) {
	f := validate.Of(req)
	if req.GetRequestId() == "" {
		f.Add("requestId", "is required")
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	result := &platformv1.DenyResponse{}
	idempotency.Result(ctx, &result)
	return result, s.Decide(ctx, req.GetRequestId(), Decision{}, &result.RedirectTo, s.reauthenticate)
}

func (s *Service) reauthenticate(ctx context.Context, tx *ent.Tx) error {
	return authz.Reauthenticate(ctx, s.Store, tx)
}

// Decide records the decision about a request. In the transaction, it assigns to
// redirectTo where the browser goes; empty for a device. admit runs in the transaction,
// which fails if it returns an error. A repeated equal decision has the same result until
// the code is redeemed.
func (s *Service) Decide(ctx context.Context, requestID string, d Decision, redirectTo *string, admit func(context.Context, *ent.Tx) error) error {
	return feed.RetryOnDuplicate(s.Store, func() error {
		return s.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			if err := admit(ctx, tx); err != nil {
				return err
			}
			row, now, err := s.lock(ctx, tx, authorization.ID(digest.Of(requestID)))
			if err != nil {
				return err
			}
			if row == nil || now >= row.ExpiresAt {
				return errNoRequest
			}
			*redirectTo, err = s.decide(ctx, tx, requestID, row, d, now)
			return err
		})
	})
}

func (s *Service) decide(ctx context.Context, tx *ent.Tx, requestID string, row *ent.Authorization, d Decision, now instant.Instant) (string, error) {
	isApproval := !d.User.IsZero()
	switch {
	case row.Status == pending && isApproval:
		if err := s.approve(ctx, tx, requestID, row, d, now); err != nil {
			return "", err
		}
	case row.Status == pending:
		if err := tx.Authorization.UpdateOne(row).SetStatus(denied).Exec(ctx); err != nil {
			return "", err
		}
	case row.Status == denied && !isApproval && row.UserID == nil:
	case row.Status == approved && isApproval && *row.UserID == d.User && row.Granted == strings.Join(d.Scopes, " "):
	default:
		return "", errNoRequest
	}
	switch {
	case row.IsDevice:
		return "", nil
	case isApproval:
		return RedirectTo(row.RedirectURI, row.State, row.Issuer, url.Values{"code": {codeOf(row.Secret, requestID)}}), nil
	}
	refusal := oidc.ErrAccessDenied().WithDescription("the user denied the request")
	return RedirectTo(row.RedirectURI, row.State, row.Issuer, ErrorParameters(refusal)), nil
}

// approve records an approval, and adds its scopes to the grant.
func (s *Service) approve(ctx context.Context, tx *ent.Tx, requestID string, row *ent.Authorization, d Decision, now instant.Instant) error {
	allowed, err := s.holdClient(ctx, tx, row.ClientID)
	if err != nil {
		return err
	}
	if err := checkApproved(d.Scopes, common(strings.Fields(row.Scopes), allowed)); err != nil {
		return err
	}
	if _, err := users.Hold(ctx, s.Store, tx, d.User); err != nil {
		return err
	}
	if err := s.addGrant(ctx, tx, row.ClientID, d); err != nil {
		return err
	}
	update := tx.Authorization.UpdateOne(row).SetStatus(approved).SetUserID(d.User).SetGranted(strings.Join(d.Scopes, " "))
	if !row.IsDevice {
		update.SetCode(digest.Of(codeOf(row.Secret, requestID))).SetCodeExpiresAt(now.Add(codeLifetime))
	}
	return update.Exec(ctx)
}

// holdClient returns the scopes for which a client may ask, and keeps the client from being
// deleted until the transaction ends.
func (s *Service) holdClient(ctx context.Context, tx *ent.Tx, id string) (scopes []string, err error) {
	exists := false
	err = store.QueryEach(ctx, tx, "SELECT scopes FROM clients WHERE id = ?"+s.Store.ForShare(), []any{id},
		func(scan func(...any) error) error {
			exists = true
			var text string
			err := scan(&text)
			scopes = strings.Fields(text)
			return err
		})
	if err == nil && !exists {
		err = errNoRequest
	}
	return scopes, err
}

func checkApproved(scopes, allowed []string) error {
	var f validate.Fields
	for i, scope := range scopes {
		if !slices.Contains(allowed, scope) {
			f.Add(fmt.Sprintf("scopes[%d]", i), "must be one of "+strings.Join(allowed, ", ")+", for which the client asks")
		}
	}
	if err := f.Err(); err != nil {
		return err
	}
	if len(scopes) == 0 {
		return apierr.Invalid(apierr.Violation{Field: "scopes", Description: "is required"})
	}
	return nil
}

// addGrant adds the approved scopes to those that the user granted the client earlier.
func (s *Service) addGrant(ctx context.Context, tx *ent.Tx, clientID string, d Decision) error {
	g, err := lockGrant(ctx, tx, clientID, d.User)
	if err != nil {
		return err
	}
	if g == nil {
		return tx.Grant.Create().SetID(uid.New()).SetClientID(clientID).SetUserID(d.User).
			SetScopes(strings.Join(d.Scopes, " ")).Exec(ctx)
	}
	all := strings.Join(normal(append(strings.Fields(g.Scopes), d.Scopes...)), " ")
	return tx.Grant.Update().Where(grant.ID(g.ID)).SetScopes(all).Exec(ctx)
}
