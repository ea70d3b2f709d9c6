package hearing

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
)

// StandingIn returns the standing of a caller in a channel, which need not exist.
func StandingIn(ctx context.Context, clock *store.Clock, q store.Queryer, caller *authn.Caller, channelID uid.ID) (Standing, error) {
	switch {
	case isBackend(caller):
		return Insider, nil
	case caller.Kind == authn.App:
		return standingOfApp(ctx, q, caller.ClientID, channelID)
	}
	var exists, moderates bool
	err := store.QueryRow(ctx, q, "SELECT EXISTS (SELECT 1 FROM users WHERE id = ? AND "+users.Exists+"), "+authz.Moderates(clock, "?", "?"),
		[]any{caller.UserID, channelID, caller.UserID, channelID, caller.UserID, caller.UserID}, &exists, &moderates)
	switch {
	case err != nil || !exists:
		return Nobody, err
	case moderates || caller.UserID == channelID:
		return Insider, nil
	}
	return Outsider, nil
}

func standingOfApp(ctx context.Context, q store.Queryer, clientID string, channelID uid.ID) (Standing, error) {
	var scopes string
	err := store.QueryRow(ctx, q, "SELECT scopes FROM grants WHERE client_id = ? AND user_id = ?", []any{clientID, channelID}, &scopes)
	switch {
	case errors.Is(err, store.ErrNoRows):
		return Outsider, nil
	case err != nil:
		return Nobody, err
	case IsGrant(scopes):
		return Insider, nil
	}
	return Outsider, nil
}

// IsGrant reports whether the scopes of a grant, separated by spaces, make an app an
// Insider of the channel of the user who granted them.
func IsGrant(scopes string) bool { return slices.Contains(strings.Fields(scopes), authn.UsersRead) }

// Granted returns the SQL condition that the owner of a channel made a client an Insider.
// client and channel are SQL expressions.
func Granted(client, channel string) string {
	return "EXISTS (SELECT 1 FROM grants hg WHERE hg.client_id = " + client + " AND hg.user_id = " + channel +
		" AND CONCAT(' ', hg.scopes, ' ') LIKE '% " + authn.UsersRead + " %')"
}
