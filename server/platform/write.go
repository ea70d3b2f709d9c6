package platform

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/authz"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

// maxDuplicates is how often a transaction is retried because rows that it creates
// were created concurrently.
const maxDuplicates = 5

// again runs a write, and retries it while it fails because rows that it creates
// exist already.
func again(s *store.Store, write func() error) error {
	err := write()
	for i := 0; i < maxDuplicates && s.IsDuplicate(err); i++ {
		err = write()
	}
	return err
}

// write runs body in a transaction on behalf of the caller of the current request.
func write(ctx context.Context, s *store.Store, body func(context.Context, putter) error) error {
	return again(s, func() error {
		return s.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			if err := authz.Reauthenticate(ctx, s, tx); err != nil {
				return err
			}
			now, err := s.Clock.Now(ctx, tx)
			if err != nil {
				return err
			}
			return body(ctx, putter{Store: s, Tx: tx, now: now})
		})
	})
}

// writeTo is write for a body that locks the row of a channel. It first waits in the
// queue for changes of that channel. An invalid id is not queued; body handles it.
func writeTo(ctx context.Context, s *store.Store, channelID string, body func(context.Context, putter) error) error {
	id, err := uid.Parse(channelID)
	if err != nil {
		return write(ctx, s, body)
	}
	done, err := s.Turns.Take(ctx, id)
	if err != nil {
		return err
	}
	defer done()
	return write(ctx, s, func(ctx context.Context, p putter) error {
		if err := body(ctx, p); err != nil {
			return err
		}
		done()
		return nil
	})
}

// ofChange returns a putter in the transaction of a change.
func ofChange(c *change.Change) putter { return putter{Store: c.Store, Tx: c.Tx, now: c.Now} }
