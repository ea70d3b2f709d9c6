package authn

import (
	"context"
	"strings"

	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/secrets"
	"github.com/moderato-live/moderato/internal/uid"
)

// TicketKey is the metadata key with which the REST facade passes the ticket of an event
// stream on. It is not read from clients.
const TicketKey = "moderato-ticket"

// NewTicket returns the text of a new ticket, which has the form of a token.
func NewTicket() (string, error) { return secrets.New(Ticket) }

// IsTicket reports whether a text has the form of a ticket, so that a damaged one is
// refused without a look-up.
func IsTicket(text string) bool {
	return strings.HasPrefix(text, Ticket) && secrets.IsWhole(text)
}

// CallerOf returns the caller that a token identifies, for whoever proved in another way to
// act with the token's rights. userID is the user for whom a service token acts, or zero.
// The error says why the token is not valid.
func (a *Authenticator) CallerOf(ctx context.Context, id digest.SHA256, userID uid.ID) (*Caller, error) {
	token, err := a.lookUp(ctx, "", id)
	if err != nil {
		return nil, err
	}
	if err := CheckValidity(token.row.RevokedAt, token.row.ExpiresAt, a.store.Clock.Local().Add(token.skew)); err != nil {
		return nil, err
	}
	c, err := token.caller(nil)
	if err == nil && c.Kind == Service {
		c.UserID = userID
	}
	return c, err
}
