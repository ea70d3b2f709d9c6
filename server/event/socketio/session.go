package socketio

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
)

// session is a connected client.
type session struct {
	server *Server
	id     uid.ID
	conn   *conn

	// syncing is held while the subscriptions are read and applied.
	syncing sync.Mutex

	mu        sync.Mutex
	running   map[uid.ID]*delivery // by subscription
	revoked   map[uid.ID]bool      // subscriptions that ended by themselves
	idleSince time.Time            // zero while there are subscriptions
	close     func()               // ends the event stream as which the session counts; nil without one
	ended     bool
}

// isIdle reports whether the session has had no subscription for too long.
func (s *session) isIdle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.idleSince.IsZero() && time.Since(s.idleSince) > s.server.idle.limits.IdleTime
}

// sync reads the subscriptions of the session, starts the new ones, renews those that have a
// newer token, and stops those that were ended.
func (s *session) sync(ctx context.Context) error {
	s.syncing.Lock()
	defer s.syncing.Unlock()
	rows, exists, err := s.server.sessions.Read(ctx, s.id)
	if err != nil || !exists {
		return err
	}
	stored := make(map[uid.ID]*ent.EventSubscription, len(rows))
	for _, row := range rows {
		stored[row.ID] = row
	}
	var stopped []*delivery
	s.mu.Lock()
	for id, d := range s.running {
		if row := stored[id]; row != nil {
			d.renew(row)
		} else {
			delete(s.running, id)
			stopped = append(stopped, d)
		}
	}
	// A subscription that ended after it was read must not start again.
	maps.DeleteFunc(s.revoked, func(id uid.ID, _ bool) bool { return stored[id] == nil })
	for id, row := range stored {
		if s.running[id] == nil && !s.revoked[id] && !s.ended {
			s.running[id] = s.start(row)
		}
	}
	s.noteIdle()
	s.mu.Unlock()
	for _, d := range stopped {
		d.stop()
		<-d.done
	}
	return nil
}

// wait waits until the deliveries that run have begun or ended, or ctx ends.
func (s *session) wait(ctx context.Context) {
	s.mu.Lock()
	running := slices.Collect(maps.Values(s.running))
	s.mu.Unlock()
	for _, d := range running {
		select {
		case <-d.begun:
		case <-d.done:
		case <-ctx.Done():
			return
		}
	}
}

// noteIdle records since when the session has no subscription. The caller holds mu.
func (s *session) noteIdle() {
	switch {
	case len(s.running) > 0:
		s.idleSince = time.Time{}
		s.server.idle.set(s.conn, false)
	case s.idleSince.IsZero():
		s.idleSince = time.Now()
		s.closeStream()
		s.server.idle.set(s.conn, true)
	}
}

// openStream counts the session as one event stream of the caller of its subscriptions. It
// returns an error if the caller has too many.
func (s *session) openStream(caller *authn.Caller) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.close == nil && len(s.running) > 0 {
		s.close, err = s.server.watch.Open(caller)
	}
	return err
}

// closeStream stops counting the session as an event stream. The caller holds mu.
func (s *session) closeStream() {
	if s.close != nil {
		s.close()
	}
	s.close = nil
}

// start starts the delivery of a subscription. The caller holds mu.
func (s *session) start(row *ent.EventSubscription) *delivery {
	ctx, cancel := context.WithCancel(s.server.ctx)
	d := &delivery{stop: cancel, done: make(chan struct{}), begun: make(chan struct{}), row: row}
	s.server.subscribed.Inc()
	go func() {
		defer s.server.subscribed.Dec()
		defer close(d.done)
		defer cancel()
		s.deliver(ctx, d)
	}()
	return d
}

// stopAll stops all deliveries of a session that ends.
func (s *session) stopAll() {
	s.mu.Lock()
	running := s.running
	s.running, s.ended = map[uid.ID]*delivery{}, true
	s.closeStream()
	s.mu.Unlock()
	for _, d := range running {
		d.stop()
	}
	for _, d := range running {
		<-d.done
	}
}

// forget forgets a subscription that ended by itself.
func (s *session) forget(id uid.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, id)
	s.revoked[id] = true
	s.noteIdle()
}

// send sends an event to the client, whose argument has parts. It waits while too much is
// unsent, and closes the connection of a client that reads nothing.
func (s *session) send(ctx context.Context, event string, parts ...[]byte) {
	start := []byte(eventPacket + s.conn.namespace + `["` + event + `",`)
	packet := slices.Concat(start, slices.Concat(parts...), []byte("]"))
	waiting, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	if s.conn.room.Acquire(waiting, size(packet)) == nil {
		s.conn.push(packet)
	} else if ctx.Err() == nil {
		s.conn.close("")
	}
}
