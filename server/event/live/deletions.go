package live

import (
	"sync"

	"github.com/moderato-live/moderato/internal/uid"
)

// deletions counts the events that delete messages, and remembers the latest one of each
// channel. A batch that was checked before the latest deletion of its channel must be
// checked again. Memory is bounded: after many channels, every channel counts as one in
// which messages were just deleted.
type deletions struct {
	mu     sync.Mutex
	n      int64
	floor  int64 // the latest deletion of channels that are not in latest
	latest map[uid.ID]deletion
}

type deletion struct {
	n        int64
	position int64 // of the event
}

// Deleted records that an event, which deletes messages of a channel, is about to be
// sent. It has no effect for an event that is recorded already.
func (h *Hub) Deleted(channelID uid.ID, position int64) { h.deletions.add(channelID, position) }

func (d *deletions) add(channelID uid.ID, position int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known, ok := d.latest[channelID]; ok && position <= known.position {
		return
	}
	d.n++
	if d.latest == nil || len(d.latest) >= maxDeletions {
		d.latest, d.floor = map[uid.ID]deletion{}, d.n
	}
	d.latest[channelID] = deletion{d.n, position}
}

// count returns the number of deletions so far.
func (d *deletions) count() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.n
}

// isAfter reports whether messages of a channel were deleted after a number of deletions.
func (d *deletions) isAfter(channelID uid.ID, n int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return max(d.floor, d.latest[channelID].n) > n
}
