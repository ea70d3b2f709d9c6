package socketio

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/zishang520/socket.io/servers/engine/v3/transports"
	"github.com/zishang520/socket.io/servers/socket/v3"
	"github.com/zishang520/socket.io/v3/pkg/types"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/peer"
	"github.com/moderato-live/moderato/server/uid"
)

const (
	// maxUnsent is how many messages of a session may wait for a slow client. Deliveries
	// wait while there are more, and continue from the database.
	maxUnsent = 64
	// sendTimeout is how long a message may wait before the client is taken for gone.
	sendTimeout = 30 * time.Second
)

// session is a connected client.
type session struct {
	server *Server
	id     uid.ID
	client *socket.Socket

	// syncing is held while the subscriptions are read and applied.
	syncing sync.Mutex

	mu        sync.Mutex
	running   map[uid.ID]*delivery // by subscription
	revoked   map[uid.ID]bool      // subscriptions that ended by themselves
	idleSince time.Time            // zero while there are subscriptions
	ended     bool

	sending sync.Mutex
	slots   chan struct{}
}

// hangUp closes the connection. The client connects again by itself.
func (s *session) hangUp() { s.client.Conn().Close(true) }

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

// noteIdle records since when the session has no subscription. The caller holds mu.
func (s *session) noteIdle() {
	conn := s.client.Conn()
	switch {
	case len(s.running) > 0:
		s.idleSince = time.Time{}
		s.server.idle.remove(conn.Id())
	case s.idleSince.IsZero():
		s.idleSince = time.Now()
		s.server.idle.addAgain(conn.Id(), peer.Address(conn.Request().Request()))
		if conn.ReadyState() == "closed" { // the count may have been after its end
			s.server.idle.remove(conn.Id())
		}
	}
}

// start starts the delivery of a subscription. The caller holds mu.
func (s *session) start(row *ent.EventSubscription) *delivery {
	ctx, cancel := context.WithCancel(s.server.ctx)
	d := &delivery{stop: cancel, done: make(chan struct{}), row: row}
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

// send sends a message to the client. It waits while too many messages are unsent, and
// closes the connection of a client that reads none.
func (s *session) send(ctx context.Context, message []byte) {
	timeout := time.NewTimer(sendTimeout)
	defer timeout.Stop()
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return
	case <-timeout.C:
		s.hangUp()
		return
	}
	// One message at a time, so that the library calls sent for this very message.
	s.sending.Lock()
	defer s.sending.Unlock()
	s.client.Conn().Write(types.NewStringBuffer(message), nil, func(transports.Transport) { <-s.slots })
}
