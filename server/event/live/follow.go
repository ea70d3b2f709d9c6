package live

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/moderato-live/moderato/internal/uid"
)

// mark has follow look at channels whose listeners may have changed.
func (l *link) mark(channels []uid.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range channels {
		l.dirty[id] = true
	}
	l.isChanged.Raise()
}

// markAll is mark for all channels with listeners.
func (l *link) markAll() {
	l.mark(slices.Collect(maps.Keys(l.hub.listened())))
}

// wait waits until the server is subscribed to the channels of its listeners, or for
// joinTimeout. If the server is not connected, it waits until the others have found its announcement.
func (l *link) wait(ctx context.Context) {
	most := joinTimeout
	if !l.isUp() {
		most = 2 * lookInterval
	}
	done := make(chan struct{})
	l.mu.Lock()
	l.waiting = append(l.waiting, done)
	l.mu.Unlock()
	l.isChanged.Raise()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-done:
		return
	case <-timer.C:
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = slices.DeleteFunc(l.waiting, func(one chan struct{}) bool { return one == done })
}

// follow subscribes to the channels that have listeners until ctx ends.
func (l *link) follow(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.isChanged:
		}
		conn := l.conn.Load()
		if conn == nil {
			continue // connect marks all channels
		}
		l.mu.Lock()
		dirty, waiting := l.dirty, l.waiting
		l.dirty, l.waiting = map[uid.ID]bool{}, nil
		l.mu.Unlock()
		if err := l.subscribe(conn, dirty); err != nil {
			l.hub.log.WarnContext(ctx, "subscribing to chat on NATS failed; it will be tried again", "error", err)
			l.mark(slices.Collect(maps.Keys(dirty)))
			pause(ctx, sendInterval)
			continue // the listeners wait for joinTimeout
		}
		if len(waiting) > 0 && conn.FlushTimeout(joinTimeout) == nil {
			for _, done := range waiting {
				close(done)
			}
		}
	}
}

// subscribe subscribes to the channels among some that have listeners, or to all channels if
// a listener wants all, or there are too many. It ends the other subscriptions when
// NATS has the new ones, so that no message falls between; the gate drops those that arrive twice.
func (l *link) subscribe(conn *nats.Conn, some map[uid.ID]bool) (err error) {
	most := maxSubscriptions
	if l.all != nil {
		most = maxSubscriptions * 8 / 10 // few listeners more or less change nothing
	}
	wantsAll, wanted := l.hub.wanted(some, most)
	leavesAll := !wantsAll && l.all != nil
	if leavesAll {
		wanted = l.hub.listened()
		some = wanted
	}
	if wantsAll && l.all == nil {
		if l.all, err = conn.ChanSubscribe(l.subject+"*", l.arrived); err != nil {
			return err
		}
		_ = conn.FlushTimeout(flushTimeout)
		for id, s := range l.subscribed {
			_ = s.Unsubscribe()
			delete(l.subscribed, id)
		}
	}
	for id := range some {
		switch s := l.subscribed[id]; {
		case wanted[id] && s == nil && !wantsAll:
			if l.subscribed[id], err = conn.ChanSubscribe(l.subject+id.String(), l.arrived); err != nil {
				delete(l.subscribed, id)
				return err
			}
		case !wanted[id] && s != nil:
			_ = s.Unsubscribe()
			delete(l.subscribed, id)
			l.hub.exchange.gate.forget(id)
		}
	}
	if leavesAll {
		_ = conn.FlushTimeout(flushTimeout)
		_ = l.all.Unsubscribe()
		l.all = nil
		l.hub.exchange.gate.keep(wanted)
	}
	return nil
}

// wanted returns whether the server needs the messages of all channels, because a listener wants
// them or more than most channels have listeners, and which of some channels have listeners.
func (h *Hub) wanted(some map[uid.ID]bool, most int) (wantsAll bool, wanted map[uid.ID]bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	wanted = map[uid.ID]bool{}
	for id := range some {
		wanted[id] = h.byChannel[id] != nil
	}
	return len(h.everywhere) > 0 || len(h.byChannel) > most, wanted
}

// listened returns the channels that have listeners.
func (h *Hub) listened() map[uid.ID]bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := map[uid.ID]bool{}
	for id := range h.byChannel {
		all[id] = true
	}
	return all
}

// changed tells the link that the listeners of channels change. The caller holds the hub's mu.
func (x *exchange) changed(channels []uid.ID) {
	if x.link != nil {
		x.link.mark(channels)
	}
}

// wantsTable reports whether this server must read the table. The caller must hold state.
func (x *exchange) wantsTable() bool { return x.listeners > 0 && (x.link == nil || !x.link.isUp()) }

// sendOverLink publishes messages, and returns those that must be written to the table: none
// while all servers are connected.
func (x *exchange) sendOverLink(all []posted) []posted {
	isUp := x.link.isUp()
	if isUp {
		x.link.publish(all)
	}
	x.recent = append(x.recent, all...)
	first := max(len(x.recent)-maxPosted, 0)
	for first < len(x.recent) && time.Since(x.recent[first].at) > recentTime {
		first++
	}
	x.recent = x.recent[first:]
	if isUp && !x.wanted.IsWithin(fallbackTime) {
		return nil
	}
	unwritten := x.recent
	x.recent = nil
	return unwritten
}

// isWanted reports whether this server has listeners of a channel. If it has none, they miss
// nothing.
func (x *exchange) isWanted(channelID uid.ID) bool {
	if x.hub.hasListeners(channelID) {
		return true
	}
	x.gate.forget(channelID)
	return false
}

// isNext reports whether a numbered message is to be passed on, and tells all listeners of the
// channel what they missed before it, whose type is not known.
func (x *exchange) isNext(server, channelID uid.ID, n number) bool {
	isNext, missed := x.gate.pass(server, channelID, n)
	if missed > 0 {
		x.hub.mu.Lock()
		defer x.hub.mu.Unlock()
		x.hub.miss(lane{channelID: channelID}, missed, causeSend)
	}
	return isNext
}
