package standings

import (
	"context"
	"time"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/store"
)

// ReadBarrier reads a barrier for one channel. The functions pass a channel's events and
// report whether the barrier is passed at a position.
func ReadBarrier(ctx context.Context, s *store.Store, channelID uid.ID) (pass func(uid.ID, int64), isPassed func(int64) bool, err error) {
	b, err := (&observer{store: s}).readBarrier(ctx, func(id uid.ID) bool { return id == channelID })
	if err != nil {
		return nil, nil, err
	}
	return b.pass, b.isPassed, nil
}

// AsOf reads the time up to which every change has a position, which is the last one.
func AsOf(ctx context.Context, s *store.Store) (asOf instant.Instant, position int64, err error) {
	state, err := (&observer{store: s}).read(ctx)
	if err != nil {
		return 0, 0, err
	}
	return state.asOf, state.Last, nil
}

// JoinDuringLook joins a stream while a look that does not end is under way.
func JoinDuringLook(ctx context.Context, s *store.Store) error {
	o := newObserver(s)
	if err := o.looking.Acquire(ctx, 1); err != nil {
		return err
	}
	_, err := o.join(ctx, &stream{})
	return err
}

// AgeLook makes the last look appear to be older than it is.
func (s *Service) AgeLook(ctx context.Context, by time.Duration) error {
	if err := s.observer.looking.Acquire(ctx, 1); err != nil {
		return err
	}
	defer s.observer.looking.Release(1)
	last := *s.observer.last // the streams have it
	last.at = last.at.Add(-by)
	s.observer.last = &last
	return nil
}

// IsDropped reports whether a change is not sent because of the one user or channel that is
// being erased.
func IsDropped(ctx context.Context, s *store.Store, e *outbox.Event) (bool, error) {
	o := newObserver(s)
	err := o.updateErased(ctx, time.Now(), nil)
	return o.erased.has(e), err
}
