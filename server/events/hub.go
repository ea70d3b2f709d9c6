package events

import (
	"context"
	"errors"
	"log/slog"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/moderato-live/moderato/server/fair"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// ringSize is how many of the latest events a process keeps for its listeners:
	// some seconds of a busy platform.
	ringSize = 8192
	pageSize = 500
	// rewriteInterval is how often to look whether what is in the ring is outdated:
	// that somebody was forgotten reaches streams under way within 2 s.
	rewriteInterval = time.Second
)

// Errors of a Subscription.
var (
	// ErrTooSlow is for a listener who kept up once and does no longer.
	ErrTooSlow = errors.New("the listener is too slow")
	// ErrTrimmed is for a position after which events are no longer kept.
	ErrTrimmed = errors.New("events after this position are no longer kept")
)

// Hub reads the events once for all listeners of the process. They share one
// ring, so that a listener costs no memory of its own, however slow; one who
// begins further back reads from the store until the ring has what comes next.
type Hub struct {
	Store *store.Store
	Log   *slog.Logger

	wake     store.Signal
	catchUps *fair.Gate

	mu      sync.Mutex
	ring    []*Event
	floor   int64 // the ring has every event after it
	last    int64 // and up to here
	bound   int64 // a listener who was live and is before it is too slow
	changed chan struct{}
	users   int
	ready   bool

	// rewrites is how often events were changed or removed before what is at hand
	// was read. Written with mu.
	rewrites atomic.Int64
	lookedAt time.Time // for Run alone
}

// NewHub makes a Hub.
func NewHub(s *store.Store, log *slog.Logger) *Hub {
	return &Hub{Store: s, Log: log, wake: store.NewSignal(), catchUps: fair.NewGate(catchUpsAtOnce), changed: make(chan struct{})}
}

// Wake has the Hub look for events now.
func (h *Hub) Wake() { h.wake.Raise() }

// Run reads what is new until ctx ends, while there are listeners.
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
		page, err := Read(ctx, h.Store, after, pageSize)
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

// isMissing tells whether retention removed some of what came after a position,
// before this process read it: it was cut off for longer than events are kept.
// Those that went with their channel are missed by nobody.
func (h *Hub) isMissing(ctx context.Context, after int64, page []*Event) (bool, error) {
	if len(page) == 0 || page[len(page)-1].Position == after+int64(len(page)) {
		return false, nil
	}
	at, err := h.positions(ctx)
	return after < at.trimmed, err
}

// lookForRewrites lets go of the ring when events were changed or removed since it
// was read, by whatever process.
func (h *Hub) lookForRewrites(ctx context.Context) error {
	at, err := h.positions(ctx)
	if err != nil {
		return err
	}
	h.lookedAt = time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.letGo(at.rewrites)
	return nil
}

// letGo has listeners go on from the store, with the events as they are now. Those
// who are behind are no slower for it. It is called with mu.
func (h *Hub) letGo(rewrites int64) {
	if rewrites > h.rewrites.Load() {
		h.rewrites.Store(rewrites)
		h.ring, h.floor = nil, h.last
	}
}

// add puts a page behind the ring, if it still ends where the page begins and is
// not outdated. When events are missing before the page, the ring begins anew: who
// is not past them has to come back, and is told then.
func (h *Hub) add(after int64, page []*Event, missing bool, rewrites int64) {
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
		h.ring = append(make([]*Event, 0, ringSize+pageSize), h.ring[over:]...)
	}
	close(h.changed)
	h.changed = make(chan struct{})
}

// positions are how far the order of all events is, and how often it was rewritten.
func (h *Hub) positions(ctx context.Context) (positions, error) {
	at, err := readPositions(ctx, h.Store.Read)
	return at, h.Store.Classify(err)
}

// Subscription is a listener's place.
type Subscription struct {
	hub      *Hub
	position int64
	isLive   bool
	// selection is what may be heard at present; nil is everything.
	selection func() *Selection
	catchUp   *catchUp // nil unless it reads from the store
	// rewrites is what the hub's was when the last page was taken.
	rewrites int64
}

// Subscribe begins to listen after a position; nil is the present. While the listener
// is behind the ring, only what selection returns at that time is read; nil is
// everything. The ring has everything, and the listener chooses. Close it.
func (h *Hub) Subscribe(ctx context.Context, after *int64, selection func() *Selection) (*Subscription, error) {
	at, err := h.positions(ctx)
	if err != nil {
		return nil, err
	}
	s := &Subscription{hub: h, position: at.last, selection: selection}
	if after != nil {
		s.position = *after
	}
	if s.position < at.trimmed || s.position > at.last {
		return nil, ErrTrimmed
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.users == 0 {
		// What came while nobody listened is not in the ring.
		h.ring, h.floor, h.last, h.bound, h.ready = nil, at.last, at.last, at.last, true
	}
	h.letGo(at.rewrites) // whoever comes now is told nothing of before
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

// Position is the position up to which Next has answered.
func (s *Subscription) Position() int64 { return s.position }

// IsOutdated tells whether the page that Next answered last is to be told no
// further: GoBack to where it was told, and Next has the rest as it is now.
func (s *Subscription) IsOutdated() bool { return s.rewrites != s.hub.rewrites.Load() }

// GoBack has Next return what follows a position again.
func (s *Subscription) GoBack(to int64) { s.position, s.catchUp = to, nil }

// IsCatchingUp reports whether Next read its last page from the store.
func (s *Subscription) IsCatchingUp() bool { return s.catchUp != nil }

// Next answers the events that follow, and waits for them until ctx ends. None
// means that the wait is over for now.
func (s *Subscription) Next(ctx context.Context, wait <-chan time.Time) ([]*Event, error) {
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
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// fromRing takes what the ring has after the position. It has nothing for one who
// is before its floor.
func (s *Subscription) fromRing() (events []*Event, floor, bound int64, changed <-chan struct{}) {
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

// fromStore reads a page that the ring no longer has. floor is from before it reads:
// the ring goes on meanwhile, with events that the page does not have.
func (s *Subscription) fromStore(ctx context.Context, floor int64) ([]*Event, error) {
	page, upTo, err := s.readPage(ctx, floor)
	if err != nil {
		return nil, err
	}
	// Read before the trimmed mark: what is missing in the page was removed before.
	at, err := s.hub.positions(ctx)
	if err != nil {
		return nil, err
	}
	if s.position < at.trimmed {
		return nil, ErrTrimmed
	}
	if len(page) > 0 {
		s.position = page[len(page)-1].Position
		return page, nil
	}
	// There is nothing more up to the ring.
	s.position = max(s.position, upTo)
	return nil, nil
}

// readPage reads the next page from the store, and up to which position there is
// nothing if the page is empty. Few statements run at once; listeners take turns.
func (s *Subscription) readPage(ctx context.Context, floor int64) (page []*Event, upTo int64, err error) {
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

// readEveryChannel is readPage for a listener who hears of every channel.
func (s *Subscription) readEveryChannel(ctx context.Context, selection *Selection, floor int64) (page []*Event, upTo int64, err error) {
	slot, err := s.hub.catchUps.Acquire(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer slot.Release()
	if selection != nil {
		return readTypes(ctx, s.hub.Store, selection.Types, s.position, floor)
	}
	page, err = Read(ctx, s.hub.Store, s.position, pageSize)
	return page, floor, err
}
