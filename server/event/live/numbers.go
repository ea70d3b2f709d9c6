package live

import (
	"maps"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/moderato-live/moderato/internal/uid"
)

const (
	// maxNumbered is of how many channels a server remembers the latest number. In a channel
	// that was forgotten, it begins with a higher one.
	maxNumbered = 100_000
	// maxFollowed is of how many channels a server remembers what it received.
	maxFollowed = 100_000
)

// number is the number of a message among those that a server posted in a channel. They have no
// gaps from first on.
type number struct{ first, value uint64 }

// posted is a message that this server posted.
type posted struct {
	Message
	number

	at time.Time
}

// numbers gives the messages of a server their numbers. Its caller must serialize the calls.
type numbers struct {
	began time.Time
	last  *lru.Cache[uid.ID, number]
}

func newNumbers() numbers {
	last, _ := lru.New[uid.ID, number](maxNumbered) // fails only for a size below 1
	return numbers{began: time.Now(), last: last}
}

// next returns the number of the next message in a channel.
func (n *numbers) next(channelID uid.ID) number {
	next, isKnown := n.last.Get(channelID)
	if isKnown {
		next.value++
	} else {
		// The time since the start does not go back, and no server posts a message each
		// microsecond.
		next.first = uint64(time.Since(n.began).Microseconds()) + 1 //nolint:gosec // not negative
		next.value = next.first
	}
	n.last.Add(channelID, next)
	return next
}

// gate passes on the messages of other servers in the order of their numbers, each once,
// whichever way they come. What was left out before a message is missed, and is not passed on
// later.
type gate struct {
	mu   sync.Mutex
	last map[uid.ID]map[uid.ID]uint64 // by channel and server
}

// pass reports whether a message is the next one, and how many were missed before it.
func (g *gate) pass(server, channelID uid.ID, n number) (isNext bool, missed int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.last == nil || len(g.last) >= maxFollowed {
		g.last = map[uid.ID]map[uid.ID]uint64{}
	}
	if g.last[channelID] == nil {
		g.last[channelID] = map[uid.ID]uint64{}
	}
	last, isKnown := g.last[channelID][server]
	if isKnown && n.value <= last {
		return false, 0
	}
	g.last[channelID][server] = n.value
	if isKnown {
		missed = int(n.value - max(last+1, n.first)) //nolint:gosec // numbers are counted from a time in microseconds
	}
	return true, missed
}

// forget forgets a channel without listeners: nobody misses its messages.
func (g *gate) forget(channelID uid.ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.last, channelID)
}

// keep forgets all channels but some.
func (g *gate) keep(some map[uid.ID]bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	maps.DeleteFunc(g.last, func(channelID uid.ID, _ map[uid.ID]uint64) bool { return !some[channelID] })
}
