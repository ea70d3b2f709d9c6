package access

import (
	"context"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/application"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/secrets"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
)

// The functions in this file are for operators, who need no token.

// CreateClient creates a client. If withSecret is true, it makes a secret for the client and
// returns it. It refuses an id that exists: replacing a client would end its secret and its
// tokens.
func CreateClient(ctx context.Context, s *store.Store, client *platformv1.ClientRecord, withSecret bool) (secret string, err error) {
	if err := CheckReserved(client.GetId(), "id"); err != nil {
		return "", err
	}
	// The secret identifies the row to a repeated attempt, so it is made in any case.
	if secret, err = secrets.New(authn.ClientSecret); err != nil {
		return "", err
	}
	err = write(ctx, s, func(ctx context.Context, tx feed.Tx, attempt store.Attempt) error {
		switch existing, err := tx.Application.Get(ctx, client.GetId()); {
		case ent.IsNotFound(err):
		case err != nil:
			return err
		case attempt.Unknown && (!withSecret || hasSecret(existing, secret)):
			return store.ErrCommitted
		default:
			return fmt.Errorf("client %s exists; 'moderato client update' changes it, and 'moderato client rotate-secret' makes a new secret", client.GetId())
		}
		row, err := putClient(ctx, tx, client)
		if err != nil || !withSecret {
			return err
		}
		return tx.Application.UpdateOne(row).SetSecret(digest.Of(secret)).Exec(ctx)
	})
	if err != nil || !withSecret {
		return "", err
	}
	return secret, nil
}

// UpdateClient applies a change to a client, and leaves everything else as it is.
func UpdateClient(ctx context.Context, s *store.Store, id string, change func(*platformv1.ClientRecord)) (row *ent.Application, err error) {
	err = write(ctx, s, func(ctx context.Context, tx feed.Tx, _ store.Attempt) error {
		current, err := lockClient(ctx, tx, id)
		if err != nil {
			return err
		}
		client := clientRecord(current)
		change(client)
		row, err = putClient(ctx, tx, client)
		return err
	})
	return row, err
}

// RotateSecret makes a new secret for a client and returns it. The secret before it is
// accepted for the time overlap as well; one before that ends.
func RotateSecret(ctx context.Context, s *store.Store, id string, overlap time.Duration) (secret string, err error) {
	if secret, err = secrets.New(authn.ClientSecret); err != nil {
		return "", err
	}
	err = write(ctx, s, func(ctx context.Context, tx feed.Tx, _ store.Attempt) error {
		row, err := lockClient(ctx, tx, id)
		switch {
		case err != nil:
			return err
		case row.Public:
			return fmt.Errorf("client %s is public and has no secret", id)
		case hasSecret(row, secret):
			return store.ErrCommitted
		}
		update := tx.Application.UpdateOne(row).SetSecret(digest.Of(secret)).ClearPreviousSecret().ClearPreviousSecretUntil()
		if row.Secret != nil && overlap > 0 {
			update.SetPreviousSecret(*row.Secret).SetPreviousSecretUntil(tx.Now.Add(overlap))
		}
		return update.Exec(ctx)
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// Client returns a client.
func Client(ctx context.Context, s *store.Store, id string) (*ent.Application, error) {
	row, err := s.Read.Application.Get(ctx, id)
	if ent.IsNotFound(err) {
		return nil, noClient(id)
	}
	return row, s.Classify(err)
}

// clientPage is how many clients EachClient reads at once.
const clientPage = 1000

// EachClient calls a function with each client, in the order of their ids.
func EachClient(ctx context.Context, s *store.Store, do func(*ent.Application) error) error {
	last := ""
	for {
		page, err := s.Read.Application.Query().Where(application.IDGT(last)).Order(ent.Asc(application.FieldID)).Limit(clientPage).All(ctx)
		if err != nil {
			return s.Classify(err)
		}
		for _, row := range page {
			if err := do(row); err != nil {
				return err
			}
			last = row.ID
		}
		if len(page) < clientPage {
			return nil
		}
	}
}

// lockClient returns a client, and keeps it as it is until the transaction ends.
func lockClient(ctx context.Context, tx feed.Tx, id string) (*ent.Application, error) {
	err := store.QueryEach(ctx, tx.Tx, "SELECT id FROM clients WHERE id = ?"+tx.Store.ForUpdate(), []any{id},
		func(scan func(...any) error) error { return scan(new(string)) })
	if err != nil {
		return nil, err
	}
	row, err := tx.Application.Get(ctx, id)
	if ent.IsNotFound(err) {
		return nil, noClient(id)
	}
	return row, err
}

func hasSecret(row *ent.Application, secret string) bool {
	return row.Secret != nil && *row.Secret == digest.Of(secret)
}

func noClient(id string) error {
	return &apierr.Error{
		Reason:  moderatov1.Reason_REASON_CLIENT_NOT_FOUND,
		Message: fmt.Sprintf("There is no client %q; 'moderato client list' lists the clients.", id),
	}
}

// write runs body in a transaction that no caller's token permits.
func write(ctx context.Context, s *store.Store, body func(context.Context, feed.Tx, store.Attempt) error) error {
	return feed.RetryOnDuplicate(s, func() error {
		return s.Write(ctx, func(ctx context.Context, tx *ent.Tx, attempt store.Attempt) error {
			now, err := s.Clock.Now(ctx, tx)
			if err != nil {
				return err
			}
			return body(ctx, feed.Tx{Tx: tx, Store: s, Now: now}, attempt)
		})
	})
}
