package store

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/cursorkey"
	"github.com/moderato-live/moderato/server/store/cursor"
)

// readCursorKeys returns the keys for cursors, oldest first.
func (s *Store) readCursorKeys(ctx context.Context) ([]cursor.Key, error) {
	rows, err := s.Read.CursorKey.Query().Order(ent.Asc(cursorkey.FieldID)).All(ctx)
	if err != nil {
		return nil, s.Classify(err)
	}
	now := s.Clock.Local()
	keys := make([]cursor.Key, len(rows))
	for i, row := range rows {
		keys[i] = cursor.Key{ID: uint16(row.ID), Secret: row.Secret, Age: now.Sub(row.CreatedAt)}
	}
	return keys, nil
}

// createFirstCursorKey creates a key if none exists.
func (s *Store) createFirstCursorKey(ctx context.Context) error {
	return s.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ Attempt) error {
		exists, err := tx.CursorKey.Query().Exist(ctx)
		if err != nil || exists {
			return err
		}
		return s.createCursorKey(ctx, tx, 1)
	})
}

// RotateCursorKey creates a key. Servers seal cursors with it after at most 75 seconds.
// Cursors of earlier keys stay valid, unless revoke deletes those keys: servers then
// reject these cursors after at most 30 seconds.
func (s *Store) RotateCursorKey(ctx context.Context, revoke bool) error {
	return s.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ Attempt) error {
		newest, err := tx.CursorKey.Query().Order(ent.Desc(cursorkey.FieldID)).First(ctx)
		if err != nil {
			return fmt.Errorf("find the newest key: %w", err)
		}
		if newest.ID == math.MaxUint16 {
			return fmt.Errorf("the maximum of %d keys is reached", newest.ID)
		}
		if revoke {
			if _, err := tx.CursorKey.Delete().Exec(ctx); err != nil {
				return fmt.Errorf("delete the earlier keys: %w", err)
			}
		}
		return s.createCursorKey(ctx, tx, newest.ID+1)
	})
}

func (s *Store) createCursorKey(ctx context.Context, tx *ent.Tx, id int64) error {
	now, err := s.Clock.Now(ctx, tx)
	if err != nil {
		return err
	}
	secret := make([]byte, cursor.SecretSize)
	_, _ = rand.Read(secret) // never fails
	return tx.CursorKey.Create().SetID(id).SetSecret(secret).SetCreatedAt(now).Exec(ctx)
}
