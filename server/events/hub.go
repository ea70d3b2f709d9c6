package events

import (
	"context"
	"errors"
	"log/slog"
	"sort"
	"sync"
	"time"

	"github.com/moderato-live/moderato/server/store"
)

const (
	// ringSize is how many of the latest events a process keeps for its listeners:
	// some seconds of a busy platform.
	ringSize = 8192
	pageSize = 500
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

	wake store.Signal

	mu      sync.Mutex
	ring    []*Event
	floor   int64 // the ring has every event after it
	last    int64 // and up to here
	changed chan struct{}
	users   int
	ready   bool
}

// NewHub makes a Hub.
func NewHub(s *store.Store, log *slog.Logger) *Hub {
	return &Hub{Store: s, Log: log, wake: store.NewSignal(), changed: make(chan struct{})}
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
		after, idle := h.last, h.users == 0 || !h.ready
		h.mu.Unlock()
		if idle {
			return nil
		}
		page, err := Read(ctx, h.Store, after, pageSize)
		if err != nil {
			return err
		}
		missing, err := h.isMissing(ctx, after, page)
		if err != nil {
			return err
		}
		h.add(after, page, missing)
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
	_, trimmed, err := h.positions(ctx)
	return after < trimmed, err
}

// add puts a page behind the ring, if it still ends where the page begins. When
// events are missing before the page, the ring begins anew: who is not past them
// has to come back, and is told then.
func (h *Hub) add(after int64, page []*Event, missing bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(page) == 0 || h.last != after {
		return
	}
	h.last = page[len(page)-1].Position
	if missing {
		h.ring, h.floor = nil, h.last
	} else {
		h.ring = append(h.ring, page...)
	}
	if over := len(h.ring) - ringSize; over > 0 {
		h.floor = h.ring[over-1].Position
		h.ring = append(make([]*Event, 0, ringSize+pageSize), h.ring[over:]...)
	}
	close(h.changed)
	h.changed = make(chan struct{})
}

// positions are the last position that was given, and the highest that retention
// removed.
func (h *Hub) positions(ctx context.Context) (last, trimmed int64, err error) {
	last, trimmed, err = Positions(ctx, h.Store.Read)
	return last, trimmed, h.Store.Classify(err)
}

// Subscription is a listener's place.
type Subscription struct {
	hub      *Hub
	position int64
	isLive   bool
}

// Subscribe begins to listen after a position; nil is the present. Close it.
func (h *Hub) Subscribe(ctx context.Context, after *int64) (*Subscription, error) {
	last, trimmed, err := h.positions(ctx)
	if err != nil {
		return nil, err
	}
	s := &Subscription{hub: h, position: last}
	if after != nil {
		s.position = *after
	}
	if s.position < trimmed || s.position > last {
		return nil, ErrTrimmed
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.users == 0 {
		// What came while nobody listened is not in the ring.
		h.ring, h.floor, h.last, h.ready = nil, last, last, true
	}
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

// Next answers the events that follow, and waits for them until ctx ends. None
// means that the wait is over for now.
func (s *Subscription) Next(ctx context.Context, wait <-chan time.Time) ([]*Event, error) {
	for {
		events, floor, changed := s.fromRing()
		switch {
		case len(events) > 0:
			return events, nil
		case s.position < floor && s.isLive:
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
func (s *Subscription) fromRing() (events []*Event, floor int64, changed <-chan struct{}) {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.position < h.floor {
		return nil, h.floor, nil
	}
	first := sort.Search(len(h.ring), func(i int) bool { return h.ring[i].Position > s.position })
	events = h.ring[first:min(first+pageSize, len(h.ring))]
	if len(events) > 0 {
		s.position = events[len(events)-1].Position
	}
	return events, h.floor, h.changed
}

// fromStore reads a page that the ring no longer has. floor is from before it
// reads: the ring goes on meanwhile, with events that the page does not have.
func (s *Subscription) fromStore(ctx context.Context, floor int64) ([]*Event, error) {
	page, err := Read(ctx, s.hub.Store, s.position, pageSize)
	if err != nil {
		return nil, err
	}
	// Read before the trimmed mark: what is missing in the page was removed before.
	_, trimmed, err := s.hub.positions(ctx)
	if err != nil {
		return nil, err
	}
	if s.position < trimmed {
		return nil, ErrTrimmed
	}
	if len(page) > 0 {
		s.position = page[len(page)-1].Position
		return page, nil
	}
	// Everything up to the ring was removed with its channels.
	s.position = max(s.position, floor)
	return nil, nil
}
