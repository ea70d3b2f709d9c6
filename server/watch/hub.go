package watch

import (
	"context"
	"errors"
	"log/slog"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/moderato-live/moderato/server/fair"
	"github.com/moderato-live/moderato/server/outbox"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

const (
	// pollInterval is how often to look for events that another process sequenced. The
	// sequencer of the same process signals its events.
	pollInterval = 20 * time.Millisecond
	// retryInterval is the delay before a failed read is retried.
	retryInterval = 250 * time.Millisecond
	// ringSize is how many of the latest events a process keeps for its listeners:
	// a few seconds of a busy platform.
	ringSize = 8192
	pageSize = 500
	// rewriteInterval is how often to check whether the ring is outdated. When a user is
	// forgotten, this takes effect on open streams within 2 s.
	rewriteInterval = time.Second
)

// Errors of a Subscription.
var (
	// ErrTooSlow is returned to a listener that was live and has fallen behind the ring.
	ErrTooSlow = errors.New("the listener is too slow")
	// ErrTrimmed is returned for a position after which events are no longer kept.
	ErrTrimmed = errors.New("events after this position are no longer kept")
)

// Hub reads the events once for all listeners of the process. The listeners share one
// ring, so that even a slow listener costs no memory of its own. A listener that begins
// before the ring reads from the store until the ring has its next event.
type Hub struct {
	Store *store.Store
	Log   *slog.Logger

	// Deleted, if not nil, is called for each event that deletes chat messages, before any
	// listener receives the event.
	Deleted func(channelID uid.ID, position int64)

	wake     store.Signal
	catchUps *fair.Gate

	mu      sync.Mutex
	ring    []*outbox.Event
	floor   int64 // the ring has every event after this position
	last    int64 // and up to this position
	bound   int64 // a listener that was live and is before this position is too slow
	changed chan struct{}
	users   int
	ready   bool

	// rewrites is how many times events had been changed or removed when the ring was
	// read. It is written with mu held.
	rewrites atomic.Int64
	lookedAt time.Time // when rewrites was last checked; used by Run only
}

// NewHub returns a Hub.
func NewHub(s *store.Store, log *slog.Logger) *Hub {
	return &Hub{Store: s, Log: log, wake: store.NewSignal(), catchUps: fair.NewGate(catchUpsAtOnce), changed: make(chan struct{})}
}

// Wake makes the Hub look for events now.
func (h *Hub) Wake() { h.wake.Raise() }

// Run reads new events until ctx ends. It is idle while there are no listeners.
func (h *Hub) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.wake:
		case <-timer.C:
		}
		wait := pollInterval
		if err := h.read(ctx); err != nil && ctx.Err() == nil {
			h.Log.WarnContext(ctx, "reading events failed; it will be tried again", "error", err)
			wait = retryInterval
		}
		timer.Reset(wait)
	}
}

func (h *Hub) read(ctx context.Context) error {
	for {
		h.mu.Lock()
		after, idle, rewrites := h.last, h.users == 0 || !h.ready, h.rewrites.Load()
		h.mu.Unlock()
		if idle {
			return nil
		}
		if time.Since(h.lookedAt) >= rewriteInterval {
			if err := h.lookForRewrites(ctx); err != nil {
				return err
			}
			continue
		}
		page, err := outbox.Read(ctx, h.Store, after, pageSize)
		if err != nil {
			return err
		}
		missing, err := h.isMissing(ctx, after, page)
		if err != nil {
			return err
		}
		h.add(after, page, missing, rewrites)
		if len(page) < pageSize {
			return nil
		}
	}
}

// isMissing reports whether retention removed events after a position before this
// process read them, because the process was cut off for longer than events are kept.
// Events that were deleted with their channel do not count as missing.
func (h *Hub) isMissing(ctx context.Context, after int64, page []*outbox.Event) (bool, error) {
	if len(page) == 0 || page[len(page)-1].Position == after+int64(len(page)) {
		return false, nil
	}
	at, err := h.positions(ctx)
	return after < at.Trimmed, err
}

// lookForRewrites discards the ring if any process changed or removed events since the
// ring was read.
func (h *Hub) lookForRewrites(ctx context.Context) error {
	at, err := h.positions(ctx)
	if err != nil {
		return err
	}
	h.lookedAt = time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.discardRing(at.Rewrites)
	return nil
}

// discardRing discards the ring if there are new rewrites: listeners that are behind re-read
// the current events from the store, and do not count as too slow. The caller must hold
// mu.
func (h *Hub) discardRing(rewrites int64) {
	if rewrites > h.rewrites.Load() {
		h.rewrites.Store(rewrites)
		h.ring, h.floor = nil, h.last
	}
}

// add appends a page to the ring, if the ring still ends at after and was not rewritten
// since. If events are missing before the page, the ring restarts after the page. A
// listener that is not past the missing events must then reconnect, and receives an
// error if its position is no longer kept.
func (h *Hub) add(after int64, page []*outbox.Event, missing bool, rewrites int64) {
	h.tellDeleted(page)
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(page) == 0 || h.last != after || h.rewrites.Load() != rewrites {
		return
	}
	h.last = page[len(page)-1].Position
	if missing {
		h.ring, h.floor, h.bound = nil, h.last, h.last
	} else {
		h.ring = append(h.ring, page...)
	}
	if over := len(h.ring) - ringSize; over > 0 {
		h.floor = h.ring[over-1].Position
		h.bound = h.floor
		h.ring = append(make([]*outbox.Event, 0, ringSize+pageSize), h.ring[over:]...)
	}
	close(h.changed)
	h.changed = make(chan struct{})
}

// tellDeleted calls Deleted for the events of a page that delete messages.
func (h *Hub) tellDeleted(page []*outbox.Event) {
	if h.Deleted == nil {
		return
	}
	for _, e := range page {
		switch e.Type {
		case "channel.chat.clear_user_messages", "channel.chat.clear", "channel.chat.message_delete":
			h.Deleted(e.ChannelID, e.Position)
		}
	}
}

// positions reads the last and the trimmed position, and the number of rewrites.
func (h *Hub) positions(ctx context.Context) (outbox.Positions, error) {
	at, err := outbox.ReadPositions(ctx, h.Store.Read)
	return at, h.Store.Classify(err)
}

// Subscription is a listener's position in the order of all events. It is for one
// goroutine.
type Subscription struct {
	hub      *Hub
	position int64
	isLive   bool
	// selection returns what the listener may receive at present; nil is everything.
	selection func() *Selection
	catchUp   *catchUp // nil unless the Subscription reads from the store
	// rewrites is the number of the hub's rewrites when the last page was read.
	rewrites int64
	// Also, if not nil, ends a Next that waits.
	Also <-chan struct{}
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
	s := &Subscription{hub: h, position: at.Last, selection: selection}
	if after != nil {
		s.position = *after
	}
	if s.position < at.Trimmed || s.position > at.Last {
		return nil, ErrTrimmed
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.users == 0 {
		// The ring has no events from the time without listeners.
		h.ring, h.floor, h.last, h.bound, h.ready = nil, at.Last, at.Last, at.Last, true
	}
	h.discardRing(at.Rewrites) // a new listener must not receive outdated events
	h.users++
	return s, nil
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	if s.hub.users--; s.hub.users == 0 {
		s.hub.ring, s.hub.ready = nil, false
	}
}

// Position returns the position up to which Next has returned events.
func (s *Subscription) Position() int64 { return s.position }

// IsOutdated reports whether events were rewritten since Next read its last page. The
// rest of that page must not be sent: call GoBack with the position of the last event
// that was sent, and Next returns the rest as it is now.
func (s *Subscription) IsOutdated() bool { return s.rewrites != s.hub.rewrites.Load() }

// GoBack resets the position, so that Next returns the events after it again.
func (s *Subscription) GoBack(to int64) { s.position, s.catchUp = to, nil }

// HasNext reports whether Next would return without waiting.
func (s *Subscription) HasNext() bool {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	return s.position < s.hub.last
}

// Next returns the events that follow. It waits for them until wait or Also fires or ctx
// ends.
// If it returns no events and no error, there are none for now, and the caller may call
// it again.
func (s *Subscription) Next(ctx context.Context, wait <-chan time.Time) ([]*outbox.Event, error) {
	for {
		events, floor, bound, changed := s.fromRing()
		switch {
		case len(events) > 0:
			s.catchUp = nil
			return events, nil
		case s.position < bound && s.isLive:
			return nil, ErrTooSlow
		case s.position < floor:
			return s.fromStore(ctx, floor)
		}
		s.isLive = true
		select {
		case <-changed:
		case <-wait:
			return nil, nil
		case <-s.Also:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// fromRing returns the events of the ring after the position, and advances the position.
// It returns none if the position is before the floor of the ring.
func (s *Subscription) fromRing() (events []*outbox.Event, floor, bound int64, changed <-chan struct{}) {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	s.rewrites = h.rewrites.Load()
	if s.position < h.floor {
		return nil, h.floor, h.bound, nil
	}
	first := sort.Search(len(h.ring), func(i int) bool { return h.ring[i].Position > s.position })
	events = h.ring[first:min(first+pageSize, len(h.ring))]
	if len(events) > 0 {
		s.position = events[len(events)-1].Position
	}
	return events, h.floor, h.bound, h.changed
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
		s.position = page[len(page)-1].Position
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
