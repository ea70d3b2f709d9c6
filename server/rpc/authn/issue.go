package authn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/predicate"
	"github.com/moderato-live/moderato/ent/token"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
)

// Lifetimes holds the lifetimes of tokens whose issuer specifies none. 0 means until
// the token is revoked.
type Lifetimes struct {
	User, App, Service time.Duration
}

// DefaultLifetimes returns the lifetimes for a server that does not configure others.
func DefaultLifetimes() Lifetimes { return Lifetimes{User: 24 * time.Hour, App: 7 * 24 * time.Hour} }

// Of returns the lifetime for a kind.
func (l Lifetimes) Of(k Kind) time.Duration {
	switch k {
	case User:
		return l.User
	case App:
		return l.App
	}
	return l.Service
}

// Issued is a token that was issued.
type Issued struct {
	// Text is the token itself.
	Text string
	// ExpiresAt is when the token expires; nil if it does not.
	ExpiresAt *instant.Instant
}

// NewToken describes a token to issue.
type NewToken struct {
	Kind     Kind
	ClientID string
	UserID   uid.ID // for a user token only
	Scopes   []string
	// Lifetime is how long the token is valid; 0 means until it is revoked.
	Lifetime time.Duration
	// Family, if not zero, joins the token with all others that came of one approval.
	Family uid.ID
	// Admit, if not nil, runs in the transaction. If it returns an error, no token is
	// issued.
	Admit func(context.Context, *ent.Tx) error
	// Issued, if not nil, receives the token at the end of the transaction, which may run
	// again.
	Issued func(Issued)
}

// Issue creates a token. The text of the token is not stored.
func Issue(ctx context.Context, s *store.Store, t NewToken) (Issued, error) {
	if err := checkScopes(t.Scopes); err != nil {
		return Issued{}, err
	}
	text, err := NewText(t.Kind)
	if err != nil {
		return Issued{}, err
	}
	issued := Issued{Text: text}
	err = s.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		if t.Admit != nil {
			if err := t.Admit(ctx, tx); err != nil {
				return err
			}
		}
		now, err := s.Clock.Now(ctx, tx)
		if err != nil {
			return err
		}
		issued.ExpiresAt, err = Create(ctx, s, tx, text, t, now)
		if s.IsDuplicate(err) { // it is this token: an earlier attempt did commit
			return store.ErrCommitted
		}
		if err == nil && t.Issued != nil {
			t.Issued(issued)
		}
		return err
	})
	if err != nil {
		return Issued{}, fmt.Errorf("issue token: %w", err)
	}
	return issued, nil
}

// Create stores a token with a text, which NewText returned, in a transaction. It checks
// that the client and the user of the token exist and may have it, and returns when the
// token expires.
func Create(ctx context.Context, s *store.Store, tx *ent.Tx, text string, t NewToken, now instant.Instant) (expiresAt *instant.Instant, err error) {
	if err := checkHolder(ctx, s, tx, t); err != nil {
		return nil, err
	}
	create := tx.Token.Create().SetID(digest.Of(text)).SetKind(string(t.Kind)).SetClientID(t.ClientID).
		SetScopes(strings.Join(t.Scopes, " ")).SetIssuedAt(now)
	if t.Lifetime > 0 {
		end := now.Add(t.Lifetime)
		create.SetExpiresAt(end)
		expiresAt = &end
	}
	if t.Kind == User {
		create.SetUserID(t.UserID)
	}
	if !t.Family.IsZero() {
		create.SetFamilyID(t.Family)
	}
	return expiresAt, create.Exec(ctx)
}

func checkScopes(scopes []string) error {
	for i, scope := range scopes {
		if !slices.Contains(Scopes(), scope) {
			return &apierr.Error{
				Reason:     moderatov1.Reason_REASON_INVALID_ARGUMENT,
				Message:    fmt.Sprintf("There is no scope %q; there are %s.", scope, strings.Join(Scopes(), ", ")),
				Violations: []apierr.Violation{{Field: fmt.Sprintf("scopes[%d]", i), Description: "must be one of " + strings.Join(Scopes(), ", ")}},
			}
		}
	}
	return nil
}

// checkHolder checks that the client of a new token exists and may have it, and that
// the user of a user token exists. It also keeps the client and the user as they are
// until the transaction ends, because a change that ends their tokens must see this
// token.
func checkHolder(ctx context.Context, s *store.Store, tx *ent.Tx, t NewToken) error {
	err := store.QueryEach(ctx, tx, "SELECT id FROM clients WHERE id = ?"+s.ForShare(), []any{t.ClientID},
		func(scan func(...any) error) error { return scan(new(string)) })
	if err != nil {
		return err
	}
	client, err := tx.Application.Get(ctx, t.ClientID)
	if ent.IsNotFound(err) {
		return &apierr.Error{
			Reason:  moderatov1.Reason_REASON_CLIENT_NOT_FOUND,
			Message: fmt.Sprintf("There is no client %q; create it with: moderato client create --id %s --name NAME", t.ClientID, t.ClientID),
		}
	}
	if err != nil {
		return err
	}
	if t.Kind == Service && !client.Service {
		return &apierr.Error{
			Reason:     moderatov1.Reason_REASON_INVALID_ARGUMENT,
			Message:    fmt.Sprintf("Client %q is no service client; service tokens are for the platform's own backends.", t.ClientID),
			Violations: []apierr.Violation{{Field: "clientId", Description: "must be a service client"}},
		}
	}
	if t.Kind != User {
		return nil
	}
	_, err = users.Hold(ctx, s, tx, t.UserID)
	if errors.Is(err, apierr.New(moderatov1.Reason_REASON_USER_NOT_FOUND)) {
		return &apierr.Error{Reason: moderatov1.Reason_REASON_USER_NOT_FOUND, Message: fmt.Sprintf("There is no user %s.", t.UserID)}
	}
	return err
}

// Revoke revokes a token. The revocation is effective immediately for changes, and
// within 2 s on every server for reads. A token that is revoked already stays revoked.
// Revoke reports whether the token exists. admit, if not nil, runs in the transaction;
// if it returns an error, the token is not revoked.
func Revoke(ctx context.Context, s *store.Store, text string, admit func(context.Context, *ent.Tx, store.Attempt) error) (found bool, err error) {
	isToken := checkToken(text) == nil
	err = s.Write(ctx, func(ctx context.Context, tx *ent.Tx, attempt store.Attempt) error {
		if admit != nil {
			if err := admit(ctx, tx, attempt); err != nil {
				return err
			}
		}
		if !isToken {
			return nil
		}
		row, err := tx.Token.Get(ctx, digest.Of(text))
		if found = err == nil; ent.IsNotFound(err) {
			return nil
		}
		if err != nil || row.RevokedAt != nil {
			return err
		}
		now, err := s.Clock.Now(ctx, tx)
		if err != nil {
			return err
		}
		return tx.Token.UpdateOne(row).SetRevokedAt(now).Exec(ctx)
	})
	if err != nil {
		return false, fmt.Errorf("revoke token: %w", err)
	}
	return found, nil
}

// RevokeServiceTokens revokes the service tokens of a client that is no longer a
// service client.
func RevokeServiceTokens(ctx context.Context, tx *ent.Tx, clientID string, now instant.Instant) error {
	return tx.Token.Update().
		Where(token.ClientID(clientID), token.Kind(string(Service)), token.RevokedAtIsNil()).
		SetRevokedAt(now).
		Exec(ctx)
}

// validPage is how many tokens EachValid reads at once.
const validPage = 1000

// EachValid calls do with each token that is valid now, of a client and of a user. An empty
// client and a zero user mean any.
func EachValid(ctx context.Context, s *store.Store, clientID string, userID uid.ID, do func(*ent.Token) error) error {
	now, err := s.Clock.Now(ctx, s.Read)
	if err != nil {
		return s.Classify(err)
	}
	of := []predicate.Token{token.RevokedAtIsNil(), token.Or(token.ExpiresAtIsNil(), token.ExpiresAtGT(now))}
	if clientID != "" {
		of = append(of, token.ClientID(clientID))
	}
	if !userID.IsZero() {
		of = append(of, token.UserID(userID))
	}
	var last digest.SHA256
	for {
		page, err := s.Read.Token.Query().Where(token.IDGT(last)).Where(of...).Order(ent.Asc(token.FieldID)).Limit(validPage).All(ctx)
		if err != nil {
			return s.Classify(err)
		}
		for _, row := range page {
			if err := do(row); err != nil {
				return err
			}
			last = row.ID
		}
		if len(page) < validPage {
			return nil
		}
	}
}

// Introspect returns a token that is valid now according to the store, or nil if the
// token is not valid.
func Introspect(ctx context.Context, s *store.Store, text string) (*ent.Token, error) {
	if checkToken(text) != nil {
		return nil, nil //nolint:nilerr,nilnil // not a good token, which is the answer
	}
	row, err := s.Read.Token.Get(ctx, digest.Of(text))
	if ent.IsNotFound(err) {
		return nil, nil //nolint:nilnil // as above
	}
	if err != nil {
		return nil, s.Classify(err)
	}
	now, err := s.Clock.Now(ctx, s.Read)
	if err != nil {
		return nil, s.Classify(err)
	}
	if CheckValidity(row.RevokedAt, row.ExpiresAt, now) != nil {
		return nil, nil //nolint:nilerr,nilnil // as above
	}
	return row, nil
}
