package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/digest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

// Lifetimes of tokens whose issuer names none. Service tokens have no end.
const (
	UserTokenLifetime = 24 * time.Hour
	AppTokenLifetime  = 7 * 24 * time.Hour
)

// ErrRefused marks the errors of a request to issue or revoke a token that
// cannot be fulfilled as it is.
var ErrRefused = errors.New("refused")

// NewToken says what token to issue.
type NewToken struct {
	Kind     Kind
	ClientID string
	UserID   uid.ID // of a user token
	Scopes   []string
	// Lifetime 0 is the kind's own.
	Lifetime time.Duration
}

// Issue makes a token and answers its text, which is stored nowhere.
func Issue(ctx context.Context, s *store.Store, t NewToken) (string, error) {
	for _, scope := range t.Scopes {
		if !slices.Contains(Scopes(), scope) {
			return "", fmt.Errorf("%w: there is no scope %q; there are %s", ErrRefused, scope, strings.Join(Scopes(), ", "))
		}
	}
	text, err := newToken(t.Kind)
	if err != nil {
		return "", err
	}
	err = s.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		if err := checkHolder(ctx, tx, t); err != nil {
			return err
		}
		now, err := s.Clock.Now(ctx, tx)
		if err != nil {
			return err
		}
		create := tx.Token.Create().SetID(digest.Of(text)).SetKind(string(t.Kind)).SetClientID(t.ClientID).
			SetScopes(strings.Join(t.Scopes, " ")).SetIssuedAt(now)
		if lifetime := t.lifetime(); lifetime > 0 {
			create.SetExpiresAt(now.Add(lifetime))
		}
		if t.Kind == User {
			create.SetUserID(t.UserID)
		}
		err = create.Exec(ctx)
		if s.IsDuplicate(err) { // this very token: an attempt whose commit was in doubt
			return store.ErrCommitted
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("issue token: %w", err)
	}
	return text, nil
}

func (t NewToken) lifetime() time.Duration {
	switch {
	case t.Lifetime > 0:
		return t.Lifetime
	case t.Kind == User:
		return UserTokenLifetime
	case t.Kind == App:
		return AppTokenLifetime
	}
	return 0
}

func checkHolder(ctx context.Context, tx *ent.Tx, t NewToken) error {
	client, err := tx.Application.Get(ctx, t.ClientID)
	if ent.IsNotFound(err) {
		return fmt.Errorf("%w: there is no client %q; create it with: moderato client create --id %s --name NAME", ErrRefused, t.ClientID, t.ClientID)
	}
	if err != nil {
		return err
	}
	if t.Kind == Service && !client.Service {
		return fmt.Errorf("%w: client %q is no service client; service tokens are for the platform's own backends", ErrRefused, t.ClientID)
	}
	if t.Kind != User {
		return nil
	}
	_, err = tx.User.Get(ctx, t.UserID)
	if ent.IsNotFound(err) {
		return fmt.Errorf("%w: there is no user %s", ErrRefused, t.UserID)
	}
	return err
}

// Revoke ends a token: for changes at once, for reads within 2 s on every
// server. A token that is revoked already stays so.
func Revoke(ctx context.Context, s *store.Store, text string) error {
	if err := checkToken(text); err != nil {
		return fmt.Errorf("%w: this is not a token, or it is damaged", ErrRefused)
	}
	err := s.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		row, err := tx.Token.Get(ctx, digest.Of(text))
		if ent.IsNotFound(err) {
			return fmt.Errorf("%w: this token was never issued here", ErrRefused)
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
		return fmt.Errorf("revoke token: %w", err)
	}
	return nil
}
