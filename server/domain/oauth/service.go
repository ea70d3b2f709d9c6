// Package oauth is the authorization server for OAuth 2.1: the requests of clients, the
// decisions of users, codes, and refresh tokens. All state is in the database, so that a
// code which one server issued can be redeemed at another.
//
// The tokens that come of one approval are a family. Everything that issues or ends the
// tokens of a user for a client first locks the row of their grant, so that none of a
// family's tokens outlives its end.
package oauth

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/grant"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// RequestLifetime is how long a request waits for the user's decision.
	RequestLifetime = 10 * time.Minute
	// codeLifetime is how long a code can be redeemed.
	codeLifetime = time.Minute
	// refreshLifetime is how long a refresh token can be used. Each use issues another.
	refreshLifetime = 60 * 24 * time.Hour
	// refreshGrace is how long a refresh token can still be used after its first use,
	// because clients refresh twice at the same moment.
	refreshGrace = time.Minute
	// keptAfterEnd is how long a request is stored that was not redeemed, so that a device
	// learns that it has expired.
	keptAfterEnd = 10 * time.Minute
	// keptRedeemed is how long a redeemed request is stored, so that a second use of its
	// code is noticed.
	keptRedeemed = 24 * time.Hour
)

// The states of a request.
const (
	pending  = "pending"
	approved = "approved"
	denied   = "denied"
	redeemed = "redeemed"
)

// Service implements AuthorizationService, the operations on grants of UsersService, the
// deletion of clients of AccessService, and what the HTTP endpoints of OAuth do. Errors that a client caused are *oidc.Error.
type Service struct {
	platformv1.UnsafeAuthorizationServiceServer

	// Store is the database.
	Store *store.Store
	// Lifetimes are the lifetimes of access tokens.
	Lifetimes authn.Lifetimes
	// Log receives a warning when a refresh token or a code is used again.
	Log *slog.Logger
}

// Tokens are the tokens that a client gets.
type Tokens struct {
	// Access is the access token.
	Access string
	// Refresh is the refresh token; empty if there is none.
	Refresh string
	// Lifetime is the lifetime of the access token.
	Lifetime time.Duration
	// Scopes are the scopes of the access token.
	Scopes []string
	// UserID is the user of the tokens; zero if they are those of an app.
	UserID uid.ID
}

var errNoRequest = apierr.New(moderatov1.Reason_REASON_REQUEST_NOT_FOUND)

// errGrant returns the error for a code or a token that is not valid. It says why, but not
// whether the code exists for another client.
func errGrant(why string) error { return oidc.ErrInvalidGrant().WithDescription("%s", why) }

// ended returns the error for err if a client or a user who no longer exists caused it,
// as that of a grant that is not valid. It returns other errors as they are.
func ended(err error) error {
	for _, gone := range []moderatov1.Reason{moderatov1.Reason_REASON_CLIENT_NOT_FOUND, moderatov1.Reason_REASON_USER_NOT_FOUND} {
		if errors.Is(err, apierr.New(gone)) {
			return errGrant("the user or the client no longer exists")
		}
	}
	return err
}

// lockGrant locks the grant of a user to a client until the transaction ends, and returns
// it; nil if there is none.
func lockGrant(ctx context.Context, tx *ent.Tx, clientID string, userID uid.ID) (*ent.Grant, error) {
	g, err := tx.Grant.Query().Where(grant.ClientID(clientID), grant.UserID(userID), store.LockForUpdate).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil //nolint:nilnil // there is none
	}
	return g, err
}

// common returns the scopes of a that b has too.
func common(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(scope string) bool { return !slices.Contains(b, scope) })
}

// normal returns scopes sorted and without duplicates and empty ones.
func normal(scopes []string) []string {
	words := strings.Fields(strings.Join(scopes, " "))
	return slices.Compact(slices.Sorted(slices.Values(words)))
}
