// Package access holds clients, what users grant them, and the service that issues their
// tokens.
package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/grant"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

func putClient(ctx context.Context, tx feed.Tx, r *platformv1.ClientRecord) (*ent.Application, error) {
	if err := CheckReserved(r.GetId(), "id"); err != nil {
		return nil, err
	}
	return saveClient(ctx, tx, r)
}

func saveClient(ctx context.Context, tx feed.Tx, r *platformv1.ClientRecord) (*ent.Application, error) {
	f := validate.Of(r)
	id := f.Identifier("id", r.GetId())
	name := f.Text("name", r.GetName())
	uris := strings.Join(redirectURIs(f, r.GetRedirectUris()), " ")
	allowed := strings.Join(scopes(f, r.GetScopes()), " ")
	if err := f.Err(); err != nil {
		return nil, err
	}
	update := tx.Application.UpdateOneID(id).SetName(name).SetService(r.GetService()).
		SetRedirectUris(uris).SetScopes(allowed).SetPublic(r.GetPublic())
	if r.GetPublic() {
		update.ClearSecret().ClearPreviousSecret().ClearPreviousSecretUntil()
	}
	row, err := update.Save(ctx)
	if ent.IsNotFound(err) {
		return tx.Application.Create().SetID(id).SetName(name).SetService(r.GetService()).
			SetRedirectUris(uris).SetScopes(allowed).SetPublic(r.GetPublic()).SetCreatedAt(tx.Now).Save(ctx)
	}
	if err == nil && !row.Service {
		err = authn.RevokeServiceTokens(ctx, tx.Tx, id, tx.Now)
	}
	return row, err
}

// maxRedirectURIs is the maximum length of the redirect URIs of a client, with the spaces
// between them.
const maxRedirectURIs = 4096

// redirectURIs validates the redirect URIs of a client.
func redirectURIs(f *validate.Fields, uris []string) []string {
	if !f.AtMost("redirectUris", len(uris)) {
		return nil
	}
	for i, uri := range uris {
		f.RedirectURI(fmt.Sprintf("redirectUris[%d]", i), uri)
	}
	if len(strings.Join(uris, " ")) > maxRedirectURIs {
		f.Add("redirectUris", fmt.Sprintf("must have at most %d characters in all", maxRedirectURIs))
	}
	return uris
}

func clientRecord(c *ent.Application) *platformv1.ClientRecord {
	return &platformv1.ClientRecord{
		Id: c.ID, Name: c.Name, Service: c.Service,
		RedirectUris: strings.Fields(c.RedirectUris), Scopes: strings.Fields(c.Scopes), Public: c.Public,
	}
}

func putGrant(ctx context.Context, tx feed.Tx, r *platformv1.GrantRecord) (*ent.Grant, error) {
	f := validate.Of(r)
	g := &ent.Grant{
		ClientID: f.Identifier("clientId", r.GetClientId()),
		UserID:   f.UUID("userId", r.GetUserId()),
		Scopes:   strings.Join(scopes(f, r.GetScopes()), " "),
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := errors.Join(tx.RequireClient(ctx, g.ClientID), tx.RequireUser(ctx, g.UserID)); err != nil {
		return nil, err
	}
	updated, err := tx.Grant.Update().Where(grant.ClientID(g.ClientID), grant.UserID(g.UserID)).SetScopes(g.Scopes).Save(ctx)
	if err != nil || updated > 0 {
		return g, err
	}
	return tx.Grant.Create().SetID(uid.New()).SetClientID(g.ClientID).SetUserID(g.UserID).SetScopes(g.Scopes).Save(ctx)
}

// scopes validates a list of scopes, and returns it sorted and without duplicates.
func scopes(f *validate.Fields, names []string) []string {
	if !f.AtMost("scopes", len(names)) {
		return nil
	}
	for i, scope := range names {
		if !slices.Contains(authn.Scopes(), scope) {
			f.Add(fmt.Sprintf("scopes[%d]", i), "must be one of "+strings.Join(authn.Scopes(), ", "))
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

func grantRecord(g *ent.Grant) *platformv1.GrantRecord {
	return &platformv1.GrantRecord{ClientId: g.ClientID, UserId: g.UserID.String(), Scopes: strings.Fields(g.Scopes)}
}
