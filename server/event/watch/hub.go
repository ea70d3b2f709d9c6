package watch

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/moderato-live/moderato/internal/fair"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

const (
	// pollInterval is how often to look for events that another process sequenced. The
	// sequencer of the same process signals its events.
	pollInterval = 20 * time.Millisecond
	// retryInterval bounds the delay before a failed read is retried.
	retryInterval = 250 * time.Millisecond
	// ringSize is how many of the latest events a process keeps for its listeners:
	// a few seconds of a busy platform.
	ringSize = 8192
	pageSize = 500
	// rewriteInterval is how often to check whether the ring is outdated. When a user is
	// forgotten, this takes effect on open streams within 2 s.
	rewriteInterval = time.Second
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

	mu          sync.Mutex
	ring        []*outbox.Event
	floor       int64 // the ring has every event after this position
	last        int64 // and up to this position
	bound       int64 // a listener that was live and is before this position is too slow
	ready       bool
	subscribers subscribers

	// rewrites is how many times events had been changed or removed when the ring was
	// read. It is written with mu held.
	rewrites atomic.Int64
	lookedAt time.Time // when rewrites was last checked; used by the job only
}

// NewHub returns a Hub.
func NewHub(s *store.Store, log *slog.Logger) *Hub {
	return &Hub{Store: s, Log: log, wake: store.NewSignal(), catchUps: fair.NewGate(catchUpsAtOnce), subscribers: newSubscribers()}
}

// Wake makes the Hub look for events now.
func (h *Hub) Wake() { h.wake.Raise() }

// Job returns the job that reads new events while there are listeners.
func (h *Hub) Job() jobs.Job {
	return jobs.Job{
		Name: "read events for listeners", Interval: pollInterval, Wake: h.wake, MaxPause: retryInterval,
		Run: jobs.All(h.read), IsActive: h.HasListeners,
	}
}

// HasListeners reports whether anyone listens.
func (h *Hub) HasListeners() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.subscribers.all) > 0
}

func (h *Hub) read(ctx context.Context) error {
	for {
		h.mu.Lock()
		after, idle, rewrites := h.last, len(h.subscribers.all) == 0 || !h.ready, h.rewrites.Load()
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
	if missing {
		h.subscribers.wakeAll(after)
	} else {
		h.subscribers.wakeFor(page, after)
	}
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
