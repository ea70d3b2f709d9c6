package oauth

import (
	"context"
	"fmt"
	"strings"

	"github.com/moderato-live/moderato/ent/authorization"
	"github.com/moderato-live/moderato/ent/grant"
	"github.com/moderato-live/moderato/ent/refreshtoken"
	"github.com/moderato-live/moderato/ent/token"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/event/webhooks"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// maxGrants is the maximum number of grants that ListGrants returns; more are an error.
const maxGrants = 1000

// ListGrants implements UsersService.
func (s *Service) ListGrants(ctx context.Context, _ *moderatov1.ListGrantsRequest) (*moderatov1.ListGrantsResponse, error) {
	result := &moderatov1.ListGrantsResponse{}
	err := store.QueryEach(ctx, s.Store.Read, `SELECT g.client_id, c.name, g.scopes FROM grants g JOIN clients c ON c.id = g.client_id
		WHERE g.user_id = ? AND g.scopes <> '' ORDER BY g.client_id`+store.Limit(maxGrants+1), []any{authn.FromContext(ctx).UserID},
		func(scan func(...any) error) error {
			g := &moderatov1.UserGrant{}
			var scopes string
			err := scan(&g.ClientId, &g.ClientName, &scopes)
			g.Scopes = strings.Fields(scopes)
			result.Grants = append(result.Grants, g)
			return err
		})
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	if len(result.GetGrants()) > maxGrants {
		return nil, &apierr.Error{
			Reason:  moderatov1.Reason_REASON_RESULT_TOO_LARGE,
			Message: fmt.Sprintf("You have granted scopes to more than %d clients, which cannot be listed.", maxGrants),
		}
	}
	return result, nil
}

// RevokeGrant implements UsersService.
func (s *Service) RevokeGrant(ctx context.Context, req *moderatov1.RevokeGrantRequest) (*moderatov1.RevokeGrantResponse, error) {
	f := validate.Of(req)
	caller := authn.FromContext(ctx)
	clientID, userID := f.Identifier("clientId", req.GetClientId()), caller.UserID
	if err := f.Err(); err != nil {
		return nil, err
	}
	err := feed.WriteEnding(ctx, s.Store, clientID == caller.ClientID, func(ctx context.Context, tx feed.Tx) error {
		// A code that was not redeemed yet must not bring new tokens.
		err := tx.Authorization.Update().
			Where(authorization.ClientID(clientID), authorization.UserID(userID), authorization.Status(approved)).
			SetStatus(denied).Exec(ctx)
		if err != nil {
			return err
		}
		if _, err := lockGrant(ctx, tx.Tx, clientID, userID); err != nil {
			return err
		}
		if _, err := tx.Grant.Delete().Where(grant.ClientID(clientID), grant.UserID(userID)).Exec(ctx); err != nil {
			return err
		}
		err = tx.Token.Update().Where(token.ClientID(clientID), token.UserID(userID), token.RevokedAtIsNil()).SetRevokedAt(tx.Now).Exec(ctx)
		if err != nil {
			return err
		}
		if _, err = tx.RefreshToken.Delete().Where(refreshtoken.ClientID(clientID), refreshtoken.UserID(userID)).Exec(ctx); err != nil {
			return err
		}
		return webhooks.DeleteOfGrant(ctx, tx.Tx, clientID, userID)
	})
	return &moderatov1.RevokeGrantResponse{}, err
}
