package authn

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/store"
)

// Inspection is what the store knows about a token, which may have ended.
type Inspection struct {
	// Caller is the caller that the token identifies while it is valid.
	Caller *Caller
	// IssuedAt is when the token was issued.
	IssuedAt instant.Instant
	// RevokedAt is when the token was revoked; nil if it was not.
	RevokedAt *instant.Instant
	// Now is the time of the inspection.
	Now instant.Instant
}

// IsValid reports whether the token is accepted.
func (i *Inspection) IsValid() bool {
	return CheckValidity(i.RevokedAt, i.Caller.ExpiresAt, i.Now) == nil
}

// Names of the secrets that are no access tokens, by their prefixes.
var otherSecrets = map[string]string{
	RefreshToken: "a refresh token", ClientSecret: "the secret of a client", DeviceCode: "a device code", Ticket: "a ticket for an event stream",
}

// Inspect looks a token up. The error says if the text is no token that was issued here.
// It does not contain the text.
func Inspect(ctx context.Context, s *store.Store, text string) (*Inspection, error) {
	for prefix, name := range otherSecrets {
		if strings.HasPrefix(text, prefix) {
			return nil, fmt.Errorf("this is %s, and no access token", name)
		}
	}
	if err := checkToken(text); err != nil {
		return nil, errors.New("invalid token: wrong checksum")
	}
	row, err := s.Read.Token.Get(ctx, digest.Of(text))
	if ent.IsNotFound(err) {
		return nil, errors.New("the token was never issued here, or ended more than a day ago")
	}
	if err != nil {
		return nil, s.Classify(err)
	}
	now, err := s.Clock.Now(ctx, s.Read)
	if err != nil {
		return nil, s.Classify(err)
	}
	token := knownToken{row: row, scopes: strings.Fields(row.Scopes)}
	caller, err := token.caller(nil)
	if err != nil {
		return nil, err
	}
	return &Inspection{Caller: caller, IssuedAt: row.IssuedAt, RevokedAt: row.RevokedAt, Now: now}, nil
}
