// Package feed holds what the calls of the platform's backends and the import share: the
// transaction in which they store records, its retries, and the checks of references.
package feed

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/store"
)

// Tx is a transaction in which records are stored. A function that stores a record
// validates its fields, updates the row with the same key or else creates it, and
// returns the row.
type Tx struct {
	*ent.Tx

	// Store is the store of the transaction.
	Store *store.Store
	// Now is the time of the transaction, by the database's clock.
	Now instant.Instant

	// changed collects the users for whom RightsChanged was called; nil if each call is
	// recorded immediately.
	changed map[uid.ID]struct{}
	// standings is whether StandingsChanged was called.
	standings *bool
}

// NewBatch returns a Tx for many records. The caller must call Finish at its end.
func NewBatch(s *store.Store, tx *ent.Tx, now instant.Instant) Tx {
	return Tx{Tx: tx, Store: s, Now: now, changed: map[uid.ID]struct{}{}, standings: new(bool)}
}

// RightsChanged is authz.RightsChanged for a user. In a batch, Finish records all users
// together in the order of their ids, so that two batches do not deadlock.
func (tx Tx) RightsChanged(ctx context.Context, id uid.ID) error {
	if tx.changed == nil {
		return authz.RightsChanged(ctx, tx.Store.Dialect, tx.Tx, id)
	}
	tx.changed[id] = struct{}{}
	return nil
}

// StandingsChanged records that the batch changes bans, mutes or roles without an event. Streams
// of standings then begin again.
func (tx Tx) StandingsChanged() { *tx.standings = true }

// Finish ends a batch.
func (tx Tx) Finish(ctx context.Context) error {
	ids := slices.SortedFunc(maps.Keys(tx.changed), func(a, b uid.ID) int { return bytes.Compare(a[:], b[:]) })
	for some := range slices.Chunk(ids, usersAtOnce) {
		if err := authz.RightsChanged(ctx, tx.Store.Dialect, tx.Tx, some...); err != nil {
			return err
		}
	}
	if *tx.standings {
		return tx.EventSequencer.Update().AddImports(1).Exec(ctx) // it has one row; the sequencer waits for it
	}
	return nil
}

// usersAtOnce is the maximum number of users in one statement.
const usersAtOnce = 500

// OrNow returns the time of a record, or now if it has none.
func (tx Tx) OrNow(t *timestamppb.Timestamp) instant.Instant {
	if t == nil {
		return tx.Now
	}
	return instant.OfProto(t)
}

// InChange returns the transaction of a change.
func InChange(c *change.Change) Tx { return Tx{Tx: c.Tx, Store: c.Store, Now: c.Now} }

// maxDuplicates is how often a transaction is retried because rows that it creates
// were created concurrently.
const maxDuplicates = 5

// RetryOnDuplicate runs a write, and retries it while it fails because rows that it creates
// exist already.
func RetryOnDuplicate(s *store.Store, write func() error) error {
	err := write()
	for i := 0; i < maxDuplicates && s.IsDuplicate(err); i++ {
		err = write()
	}
	return err
}

// Write runs body in a transaction on behalf of the caller of the current request.
func Write(ctx context.Context, s *store.Store, body func(context.Context, Tx) error) error {
	return WriteEnding(ctx, s, false, body)
}

// WriteEnding is Write for a body that ends the caller's own token if endsOwn is true: see
// authz.ReauthenticateAttempt.
func WriteEnding(ctx context.Context, s *store.Store, endsOwn bool, body func(context.Context, Tx) error) error {
	return RetryOnDuplicate(s, func() error {
		return s.Write(ctx, func(ctx context.Context, tx *ent.Tx, attempt store.Attempt) error {
			if err := authz.ReauthenticateAttempt(ctx, s, tx, attempt, endsOwn); err != nil {
				return err
			}
			now, err := s.Clock.Now(ctx, tx)
			if err != nil {
				return err
			}
			return body(ctx, Tx{Tx: tx, Store: s, Now: now})
		})
	})
}

// WriteTo is Write for a body that locks the row of a channel. It first waits in the
// queue for changes of that channel. An invalid id is not queued; body handles it.
func WriteTo(ctx context.Context, s *store.Store, channelID string, body func(context.Context, Tx) error) error {
	id, err := uid.Parse(channelID)
	if err != nil {
		return Write(ctx, s, body)
	}
	turn, err := s.ChangeQueues.Acquire(ctx, id)
	if err != nil {
		return err
	}
	defer turn.Release()
	return Write(ctx, s, func(ctx context.Context, tx Tx) error {
		if err := body(ctx, tx); err != nil {
			return err
		}
		turn.Release()
		return nil
	})
}
