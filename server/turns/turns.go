// Package turns decides which change of a channel this server makes next. The
// database lets them through in the order in which they asked for the lock of the
// channel's row, or in none: who bans a raider would stand in line behind every
// follow of the raid. So changes line up here first, where moderation goes ahead, and
// ask the database one after the other. Of several servers each has lines of its own:
// a ban waits for at most what the others have asked for already.
package turns

import (
	"context"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/server/uid"
)

// inARow is how many changes may go ahead of others that wait, before one of these
// has its turn: nobody waits forever.
const inARow = 16

// Priority is how urgent a change is.
type Priority int

// The priorities.
const (
	// Ordinary is for what viewers and backends do.
	Ordinary Priority = iota
	// Ahead is for what moderators do.
	Ahead
	priorities
)

// Turns are the lines of a server.
type Turns struct {
	mu       sync.Mutex
	channels map[uid.ID]*line
	waiting  prometheus.Gauge
}

// line is who waits for a channel that somebody changes.
type line struct {
	waiting [priorities][]chan struct{}
	ahead   int // how many have gone ahead of an ordinary one that waits
}

// New makes lines where nobody waits.
func New() *Turns {
	return &Turns{channels: map[uid.ID]*line{}, waiting: prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "moderato_changes_waiting",
		Help: "Changes of channels that wait for others of the same channel on this server.",
	})}
}

// Register adds the metric of who waits.
func (t *Turns) Register(r prometheus.Registerer) { r.MustRegister(t.waiting) }

// Take waits until it is the caller's turn to change a channel, or ctx ends. Who
// has the turn gives it back with done, best before the commit, so that the next one
// asks for the lock meanwhile. To call done again does nothing.
func (t *Turns) Take(ctx context.Context, channelID uid.ID, p Priority) (done func(), err error) {
	done = sync.OnceFunc(func() { t.give(channelID) })
	turn := t.join(channelID, p)
	if turn == nil {
		return done, nil
	}
	t.waiting.Inc()
	defer t.waiting.Dec()
	select {
	case <-turn:
		return done, nil
	case <-ctx.Done():
		t.leave(channelID, p, turn)
		return nil, ctx.Err()
	}
}

// join lines up; nil: it is the caller's turn already.
func (t *Turns) join(channelID uid.ID, p Priority) chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.channels[channelID]
	if l == nil {
		t.channels[channelID] = &line{}
		return nil
	}
	turn := make(chan struct{})
	l.waiting[p] = append(l.waiting[p], turn)
	return turn
}

// leave takes who waits no longer out of the line. Whose turn has come meanwhile
// gives it back.
func (t *Turns) leave(channelID uid.ID, p Priority, turn chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.channels[channelID]
	for i, other := range l.waiting[p] {
		if other == turn {
			l.waiting[p] = append(l.waiting[p][:i], l.waiting[p][i+1:]...)
			return
		}
	}
	t.next(channelID, l)
}

// give gives a turn back.
func (t *Turns) give(channelID uid.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next(channelID, t.channels[channelID])
}

// next hands a turn to who is next.
func (t *Turns) next(channelID uid.ID, l *line) {
	p := l.choose()
	if len(l.waiting[p]) == 0 {
		delete(t.channels, channelID)
		return
	}
	close(l.waiting[p][0])
	l.waiting[p] = l.waiting[p][1:]
}

// choose tells in which line the next one stands.
func (l *line) choose() Priority {
	switch {
	case len(l.waiting[Ahead]) == 0:
		l.ahead = 0
		return Ordinary
	case len(l.waiting[Ordinary]) == 0:
		l.ahead = 0
		return Ahead
	case l.ahead < inARow:
		l.ahead++
		return Ahead
	}
	l.ahead = 0
	return Ordinary
}
