package sessions

import (
	"context"
	"slices"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/eventsession"
	"github.com/moderato-live/moderato/ent/eventsubscription"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// Lifetime is how long a session exists after its server confirmed it. The sessions
	// of a server that crashed end then.
	Lifetime = 3 * time.Minute
	// ConfirmInterval is how often a server confirms its sessions.
	ConfirmInterval = time.Minute
)

// Sessions stores the sessions of one server.
type Sessions struct {
	// Store is the database.
	Store *store.Store
	// ServerID identifies the server process.
	ServerID uid.ID
}

// Add stores a session that began.
func (s Sessions) Add(ctx context.Context, id uid.ID) error {
	return s.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		now, err := s.Store.Clock.Now(ctx, tx)
		if err != nil {
			return err
		}
		err = tx.EventSession.Create().SetID(id).SetServerID(s.ServerID).SetSeenAt(now).Exec(ctx)
		if s.Store.IsDuplicate(err) { // an earlier attempt did commit
			return store.ErrCommitted
		}
		return err
	})
}

// Remove removes sessions that ended, with their subscriptions.
func (s Sessions) Remove(ctx context.Context, ids ...uid.ID) error {
	return s.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		return remove(ctx, tx, ids)
	})
}

// remove removes the sessions first, so that a concurrent call that holds the lock of a
// session has stored its subscription before the subscriptions are removed.
func remove(ctx context.Context, tx *ent.Tx, ids []uid.ID) error {
	if _, err := tx.EventSession.Delete().Where(eventsession.IDIn(ids...)).Exec(ctx); err != nil {
		return err
	}
	_, err := tx.EventSubscription.Delete().Where(eventsubscription.SessionIDIn(ids...)).Exec(ctx)
	return err
}

// Refresh returns a subscription as it is stored now; nil if it was ended.
func (s Sessions) Refresh(ctx context.Context, id uid.ID) (*ent.EventSubscription, error) {
	row, err := s.Store.Read.EventSubscription.Get(ctx, id)
	if ent.IsNotFound(err) {
		return nil, nil //nolint:nilnil // it was ended
	}
	return row, err
}

// RemoveSubscription removes a subscription that ended by itself, and reports whether it did:
// not if the client subscribed again since it was read, with a newer token.
func (s Sessions) RemoveSubscription(ctx context.Context, row *ent.EventSubscription) (isRemoved bool, err error) {
	err = s.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, attempt store.Attempt) error {
		n, err := tx.EventSubscription.Delete().Where(eventsubscription.ID(row.ID), eventsubscription.TokenID(row.TokenID)).Exec(ctx)
		isRemoved = n > 0
		if err != nil || isRemoved || !attempt.Unknown {
			return err
		}
		// An earlier attempt may have removed it.
		exists, err := tx.EventSubscription.Query().Where(eventsubscription.ID(row.ID)).Exist(ctx)
		isRemoved = !exists
		return err
	})
	return isRemoved, err
}

// Changed returns the sessions of the server whose subscriptions changed.
func (s Sessions) Changed(ctx context.Context) ([]uid.ID, error) {
	return s.Store.Read.EventSession.Query().
		Where(eventsession.ServerID(s.ServerID), eventsession.IsChanged(true)).Limit(1000).IDs(ctx)
}

// Read returns the subscriptions of a session, and records that the server knows them. It
// reports whether the session exists.
func (s Sessions) Read(ctx context.Context, id uid.ID) (rows []*ent.EventSubscription, exists bool, err error) {
	err = s.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		n, err := tx.EventSession.Update().Where(eventsession.ID(id), eventsession.ServerID(s.ServerID)).SetIsChanged(false).Save(ctx)
		if err != nil || n == 0 {
			exists = false
			return err
		}
		exists = true
		rows, err = tx.EventSubscription.Query().Where(eventsubscription.SessionID(id)).All(ctx)
		return err
	})
	return rows, exists, err
}

// confirmBatch is how many sessions are confirmed in one transaction.
const confirmBatch = 500

// Confirm records that sessions of the server are connected. It returns those that do not
// exist any more. A session that it is not told of expires, so that the row of a session
// does not remain if its removal failed.
func (s Sessions) Confirm(ctx context.Context, ids []uid.ID) (gone []uid.ID, err error) {
	for some := range slices.Chunk(ids, confirmBatch) {
		var found []uid.ID
		err := s.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			now, err := s.Store.Clock.Now(ctx, tx)
			if err != nil {
				return err
			}
			found, err = tx.EventSession.Query().Where(eventsession.IDIn(some...), eventsession.ServerID(s.ServerID)).IDs(ctx)
			if err != nil || len(found) == 0 {
				return err
			}
			return tx.EventSession.Update().Where(eventsession.IDIn(found...)).SetSeenAt(now).Exec(ctx)
		})
		if err != nil {
			return gone, err
		}
		for _, id := range some {
			if !slices.Contains(found, id) {
				gone = append(gone, id)
			}
		}
	}
	return gone, nil
}

// cleanBatch is how many ended sessions, or subscriptions, are removed in one transaction.
const cleanBatch = 200

// clean removes a batch of the sessions of servers that crashed, and one of the
// subscriptions without a session. It reports whether there may be more.
func clean(ctx context.Context, s *store.Store) (more bool, err error) {
	moreSessions, err := cleanSessions(ctx, s)
	if err != nil {
		return false, err
	}
	moreSubscriptions, err := cleanSubscriptions(ctx, s)
	return moreSessions || moreSubscriptions, err
}

// cleanSubscriptions removes subscriptions whose session does not exist: if a user is erased,
// only the session itself is removed. Its server ends the subscriptions, unless it crashes.
func cleanSubscriptions(ctx context.Context, s *store.Store) (more bool, err error) {
	var ids []uid.ID
	err = store.QueryEach(ctx, s.Read, `SELECT x.id FROM event_subscriptions x
			WHERE NOT EXISTS (SELECT 1 FROM event_sessions s WHERE s.id = x.session_id) LIMIT ?`, []any{cleanBatch},
		func(scan func(...any) error) error {
			var id uid.ID
			err := scan(&id)
			ids = append(ids, id)
			return err
		})
	if err != nil || len(ids) == 0 {
		return false, err
	}
	err = s.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		_, err := tx.EventSubscription.Delete().Where(eventsubscription.IDIn(ids...)).Exec(ctx)
		return err
	})
	return len(ids) == cleanBatch, err
}

func cleanSessions(ctx context.Context, s *store.Store) (more bool, err error) {
	now, err := s.Clock.Now(ctx, s.Read)
	if err != nil {
		return false, err
	}
	ended := eventsession.SeenAtLT(now.Add(-2 * Lifetime))
	ids, err := s.Read.EventSession.Query().Where(ended).Limit(cleanBatch).IDs(ctx)
	if err != nil || len(ids) == 0 {
		return false, err
	}
	err = s.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		// A server that only was slow may have confirmed a session meanwhile.
		ids, err := tx.EventSession.Query().Where(eventsession.IDIn(ids...), ended).IDs(ctx)
		if err != nil {
			return err
		}
		return remove(ctx, tx, ids)
	})
	return len(ids) == cleanBatch, err
}
