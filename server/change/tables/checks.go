package tables

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
)

// CheckTime is the time of a run of fsck, and what depends on it.
type CheckTime struct {
	// Now is the time of the run, by the database's clock.
	Now instant.Instant
	// Retention is how long events are kept.
	Retention eventtype.Retention
}

// AMinuteAgo returns the instant before which background work should be done.
func AMinuteAgo(t CheckTime) []any { return []any{t.Now.Add(-time.Minute)} }

// Hex returns the SQL expression for an id as text.
func Hex(column string) string { return "LOWER(HEX(" + column + "))" }

// Pair returns the SQL expression for the key of a row of a channel and user.
func Pair(channel, user string) string {
	return "CONCAT(" + Hex(channel) + ", ' ', " + Hex(user) + ")"
}

// CountCheck returns the check that a counter of channels is the number of the rows that
// it counts. rows is a subquery that counts the rows of the channel c.
func CountCheck(column, rows string) Check {
	return Check{
		Name: column + " is that of the rows",
		Query: `SELECT ` + Hex("n.id") + `, CONCAT('has the ` + column + ` ', n.kept, ', and there are ', n.counted)
			FROM (SELECT c.id, c.` + column + ` AS kept, (` + rows + `) AS counted FROM channels c) n WHERE n.kept <> n.counted`,
		Fix: func(ctx context.Context, s *store.Store, id string) (string, error) {
			return recount(ctx, s, column, rows, id)
		},
	}
}

// recount sets a counter of a channel to the number of rows that it counts. Every change
// of these rows locks the channel, so none is missed.
func recount(ctx context.Context, s *store.Store, column, rows, hexID string) (did string, err error) {
	id, err := hex.DecodeString(hexID)
	if err != nil {
		return "", err
	}
	err = s.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		did = ""
		var kept, counted int64
		err := store.QueryRow(ctx, tx, "SELECT "+column+" FROM channels WHERE id = ?"+s.ForUpdate(), []any{id}, &kept)
		if errors.Is(err, store.ErrNoRows) {
			return nil // the channel was deleted
		}
		if err != nil {
			return err
		}
		if err := store.QueryRow(ctx, tx, "SELECT ("+rows+") FROM channels c WHERE c.id = ?", []any{id}, &counted); err != nil {
			return err
		}
		if kept == counted {
			return nil
		}
		did = fmt.Sprintf("set the %s from %d to %d", column, kept, counted)
		_, err = tx.ExecContext(ctx, "UPDATE channels SET "+column+" = ? WHERE id = ?", counted, id)
		return err
	})
	return did, err
}
