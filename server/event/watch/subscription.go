package watch

import (
	"context"
	"errors"
	"sort"
	"time"

	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/store"
)

// Errors of a Subscription.
var (
	// ErrTooSlow is returned to a listener that was live and has fallen behind the ring.
	ErrTooSlow = errors.New("the listener is too slow")
	// ErrTrimmed is returned for a position after which events are no longer kept.
	ErrTrimmed = errors.New("events after this position are no longer kept")
)

// Subscription is a listener's position in the order of all events. It is for one
// goroutine.
type Subscription struct {
	hub      *Hub
	position int64 // guarded by the hub's mu while isCaughtUp
	isLive   bool
	// pageAfter is the position before the latest page.
	pageAfter int64
	// selection returns what the listener may receive at present; nil is everything.
	selection func() *Selection
	catchUp   *catchUp // nil unless the Subscription reads from the store
	// rewrites is the number of the hub's rewrites when the last page was read.
	rewrites int64
	// Also, if not nil, ends a Next that waits.
	Also <-chan struct{}

	interest *Interest
	woken    store.Signal
	// isCaughtUp reports that no event after position concerns the listener, up to the
	// hub's last one. The hub's mu guards it.
	isCaughtUp bool
}

// Subscribe returns a Subscription to the events after a position; nil is the present.
// While the listener is behind the ring, the Subscription reads only the events that
// selection returns at that time; nil is everything. From the ring, it returns all
// events, and the listener must filter them. The error is ErrTrimmed if events after the
// position are no longer kept, or if the position is not assigned yet. The caller must
// close the Subscription.
func (h *Hub) Subscribe(ctx context.Context, after *int64, selection func() *Selection) (*Subscription, error) {
	at, err := h.positions(ctx)
	if err != nil {
		return nil, err
	}
	s := &Subscription{hub: h, position: at.Last, selection: selection, interest: everything, woken: store.NewSignal()}
	if after != nil {
		s.position = *after
	}
	if s.position < at.Trimmed || s.position > at.Last {
		return nil, ErrTrimmed
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.subscribers.all) == 0 {
		// The ring has no events from the time without listeners.
		h.ring, h.floor, h.last, h.bound, h.ready = nil, at.Last, at.Last, at.Last, true
		h.Wake()
	}
	h.discardRing(at.Rewrites) // a new listener must not receive outdated events
	h.subscribers.add(s)
	return s, nil
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.subscribers.remove(s)
	if len(s.hub.subscribers.all) == 0 {
		s.hub.ring, s.hub.ready = nil, false
	}
}

// Narrow says which events concern the listener. While only others happen, Next goes on
// waiting, and the position advances past them. Next may return others beside those that
// concern the listener. Without Narrow, every event concerns it.
func (s *Subscription) Narrow(to *Interest) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.subscribers.remove(s)
	s.interest = to
	s.hub.subscribers.add(s)
}

// Position returns the position up to which Next has returned the events that concern the
// listener.
func (s *Subscription) Position() int64 {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.skip()
	return s.position
}

// PageAfter returns the position after which the latest page of Next begins.
func (s *Subscription) PageAfter() int64 { return s.pageAfter }

// skip advances the position past the events that do not concern the listener. The caller
// must hold the hub's mu.
func (s *Subscription) skip() {
	if s.isCaughtUp {
		s.position = max(s.position, s.hub.last)
	}
}

// IsOutdated reports whether events were rewritten since Next read its last page. The
// rest of that page must not be sent: call GoBack with the position of the last event
// that was sent, or PageAfter if none was, and Next returns the rest as it is now.
func (s *Subscription) IsOutdated() bool { return s.rewrites != s.hub.rewrites.Load() }

// GoBack resets the position within the latest page, so that Next returns the events after
// it again.
func (s *Subscription) GoBack(to int64) { s.position, s.catchUp = to, nil }

// HasNext reports whether Next would return without waiting.
func (s *Subscription) HasNext() bool {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	return !s.isCaughtUp && s.position < s.hub.last
}

// Next returns the events that follow. It waits for events that concern the listener,
// until wait or Also fires or ctx ends.
// If it returns no events and no error, there are none for now, and the caller may call
// it again.
func (s *Subscription) Next(ctx context.Context, wait <-chan time.Time) ([]*outbox.Event, error) {
	for {
		events, floor, err := s.fromRing()
		switch {
		case err != nil:
			return nil, err
		case len(events) > 0:
			s.catchUp = nil
			return events, nil
		case floor > 0:
			return s.fromStore(ctx, floor)
		}
		if !s.rest(ctx, wait) {
			return nil, ctx.Err()
		}
	}
}

// fromRing returns the events of the ring after the position, and advances the position. If
// the position is before the floor of the ring, it returns the floor. If there are no
// events, the Subscription has caught up.
func (s *Subscription) fromRing() (events []*outbox.Event, floor int64, err error) {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	s.rewrites = h.rewrites.Load()
	s.skip()
	if s.position < h.bound && s.isLive {
		return nil, 0, ErrTooSlow
	}
	if s.position < h.floor {
		return nil, h.floor, nil
	}
	first := sort.Search(len(h.ring), func(i int) bool { return h.ring[i].Position > s.position })
	events = h.ring[first:min(first+pageSize, len(h.ring))]
	if len(events) > 0 {
		s.pageAfter, s.position = s.position, events[len(events)-1].Position
	} else {
		s.isLive, s.isCaughtUp = true, true
	}
	return events, 0, nil
}

// rest waits for an event that concerns the listener, and reports whether the Subscription
// was woken. It ends earlier when wait or Also fires or ctx ends.
func (s *Subscription) rest(ctx context.Context, wait <-chan time.Time) (isWoken bool) {
	select {
	case <-s.woken:
		return true
	case <-wait:
	case <-s.Also:
	case <-ctx.Done():
	}
	return false
}

// wake ends the rest of a Subscription. The events after a position may concern the
// listener, and those before do not. The caller must hold the hub's mu.
func (s *Subscription) wake(at int64) {
	if !s.isCaughtUp {
		return
	}
	s.isCaughtUp, s.position = false, max(s.position, at)
	s.woken.Raise()
}

// fromStore reads a page that is no longer in the ring. floor is the floor of the ring
// before the read: meanwhile the ring advances, with events that are not in the page.
func (s *Subscription) fromStore(ctx context.Context, floor int64) ([]*outbox.Event, error) {
	page, upTo, err := s.readPage(ctx, floor)
	if err != nil {
		return nil, err
	}
	s.hub.tellDeleted(page)
	// The page is read before the trimmed position, so that the trimmed position covers
	// all events that are missing in the page.
	at, err := s.hub.positions(ctx)
	if err != nil {
		return nil, err
	}
	if s.position < at.Trimmed {
		return nil, ErrTrimmed
	}
	if len(page) > 0 {
		s.pageAfter, s.position = s.position, page[len(page)-1].Position
		return page, nil
	}
	// There are no more events up to upTo.
	s.position = max(s.position, upTo)
	return nil, nil
}

// readPage reads the next page from the store. If the page is empty, there are no events
// up to the position upTo. Only a few statements run concurrently; listeners take turns.
func (s *Subscription) readPage(ctx context.Context, floor int64) (page []*outbox.Event, upTo int64, err error) {
	var selection *Selection
	if s.selection != nil {
		selection = s.selection()
	}
	if selection == nil || selection.Channels == nil {
		return s.readEveryChannel(ctx, selection, floor)
	}
	if s.catchUp == nil || s.catchUp.selection != selection {
		s.catchUp = newCatchUp(s.hub.Store, s.hub.catchUps, selection, s.position, floor)
	}
	page, err = s.catchUp.next(ctx)
	upTo = s.catchUp.upTo
	if len(page) == 0 {
		s.catchUp = nil
	}
	return page, upTo, err
}

// readEveryChannel is readPage for a listener that receives events of every channel.
func (s *Subscription) readEveryChannel(ctx context.Context, selection *Selection, floor int64) (page []*outbox.Event, upTo int64, err error) {
	slot, err := s.hub.catchUps.Acquire(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer slot.Release()
	if selection != nil {
		return readTypes(ctx, s.hub.Store, selection.Types, s.position, floor)
	}
	page, err = outbox.Read(ctx, s.hub.Store, s.position, pageSize)
	return page, floor, err
}
