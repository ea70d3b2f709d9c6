package standings

import (
	"context"
	"sync"
	"time"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/store"
)

// eraseInterval is how often the erasures that are not done are read.
const eraseInterval = time.Minute

// erased holds the deletions whose erasure is not done. Events from before such a deletion
// may still have the user or channel, and may get their positions after the deletion was
// told: a chat server would learn the user again.
type erased struct {
	readAt time.Time // when all were read; used with looking held

	mu sync.RWMutex
	// until are the times before which no other user or channel gets the id.
	until map[deletion]instant.Instant
}

// updateErased takes the deletions that a look found, with their times. It drops those whose
// erasure is done.
func (o *observer) updateErased(ctx context.Context, at time.Time, found map[deletion]instant.Instant) error {
	e := &o.erased
	isDue := o.last == nil || at.Sub(e.readAt) >= eraseInterval
	if isDue {
		all, err := o.underErasure(ctx)
		if err != nil {
			return err
		}
		e.readAt, found = at, all
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if isDue {
		e.until = make(map[deletion]instant.Instant, len(found))
	}
	for d, requestedAt := range found {
		e.until[d] = requestedAt.Add(tables.LastErasure)
	}
	return nil
}

// has reports whether an event is of a user or channel that was deleted since. An event of
// another one, who got the id after the erasure, is later.
func (e *erased) has(event *outbox.Event) bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if len(e.until) == 0 {
		return false
	}
	for _, d := range [...]deletion{{event.TargetID, true}, {event.ChannelID, true}, {event.ChannelID, false}} {
		if event.OccurredAt < e.until[d] {
			return true
		}
	}
	return false
}

// underErasure returns the users and channels that are being erased, with the times of their
// deletions.
func (o *observer) underErasure(ctx context.Context) (map[deletion]instant.Instant, error) {
	found := map[deletion]instant.Instant{}
	err := store.QueryEach(ctx, o.store.Read, "SELECT id, is_user, requested_at FROM erasures", nil, func(scan func(...any) error) error {
		var d deletion
		var at instant.Instant
		err := scan(&d.id, &d.isUser, &at)
		found[d] = at
		return err
	})
	return found, o.store.Classify(err)
}
