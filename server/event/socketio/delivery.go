package socketio

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/hearing"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
)

// maxDelay is the longest pause, without its random part, before a delivery that failed
// continues.
const maxDelay = 2 * time.Second

// delivery is the delivery of a subscription's events.
type delivery struct {
	stop  context.CancelFunc
	done  chan struct{}
	begun chan struct{} // closed when the client hears what happens from now on

	mu        sync.Mutex
	row       *ent.EventSubscription
	interrupt context.CancelFunc // ends the attempt
}

// attempt returns a context in which to deliver events, and the subscription with the token
// whose rights it has. The context ends with ctx, with the next attempt, and when the
// subscription is renewed.
func (d *delivery) attempt(ctx context.Context) (context.Context, *ent.EventSubscription) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.interrupt != nil {
		d.interrupt()
	}
	ctx, d.interrupt = context.WithCancel(ctx)
	return ctx, d.row
}

// renew continues the delivery with a subscription as it is stored, if the client subscribed
// again with a newer token.
func (d *delivery) renew(stored *ent.EventSubscription) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if stored.TokenID == d.row.TokenID {
		return
	}
	d.row = stored
	if d.interrupt != nil {
		d.interrupt()
	}
}

// replace replaces the subscription of a failed attempt by what was read since, unless renew
// did, which has what was read last.
func (d *delivery) replace(failed, read *ent.EventSubscription) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.row == failed {
		d.row = read
	}
}

// deliver sends the events of a subscription until ctx ends. If the caller may not hear
// them any more, it tells the client so and removes the subscription.
func (s *session) deliver(ctx context.Context, d *delivery) {
	attempt, row := d.attempt(ctx)
	after := row.Position
	place := &watch.Place{}
	defer place.Close()
	begin := sync.OnceFunc(func() { close(d.begun) })
	delays := backoff.NewExponentialBackOff()
	delays.MaxInterval = maxDelay
	for ; ; attempt, row = d.attempt(ctx) {
		began := time.Now()
		err := s.deliverFrom(ctx, attempt, row, place, &after, begin)
		if ctx.Err() != nil {
			return
		}
		if attempt.Err() != nil {
			continue // with the newer token
		}
		fault := apierr.Of(err)
		if !isTemporary(fault.Reason) {
			renewed, err := s.server.sessions.Refresh(ctx, row.ID)
			switch {
			case err == nil && renewed == nil:
				return
			case err == nil && renewed.TokenID == row.TokenID:
				if s.revoke(ctx, row, fault.Reason) {
					return
				}
				continue
			case err == nil:
				d.replace(row, renewed) // the client subscribed again, with a newer token
				continue
			}
		}
		if time.Since(began) > time.Minute {
			delays.Reset()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(delays.NextBackOff()):
		}
	}
}

// isTemporary reports whether a delivery that ended with an error continues later.
func isTemporary(reason moderatov1.Reason) bool {
	return slices.Contains([]moderatov1.Reason{
		moderatov1.Reason_REASON_UNAVAILABLE, moderatov1.Reason_REASON_OVERLOADED, moderatov1.Reason_REASON_WATCHER_TOO_SLOW,
		moderatov1.Reason_REASON_DEADLINE_EXCEEDED, moderatov1.Reason_REASON_INTERNAL,
	}, reason)
}

// deliverFrom sends the events after a position until an attempt ends, and moves the position
// on. Only the end of ctx ends a message that waits to be sent, so that none is lost between
// two attempts. The first message shows that nothing is missed, and calls begin.
func (s *session) deliverFrom(ctx, attempt context.Context, row *ent.EventSubscription, place *watch.Place, after *int64, begin func()) error {
	var actingUser uid.ID
	if row.ActingUserID != nil {
		actingUser = *row.ActingUserID
	}
	caller, err := s.server.authenticator.CallerOf(attempt, row.TokenID, actingUser)
	if err != nil {
		return err
	}
	if err := s.openStream(caller); err != nil {
		return err
	}
	wish, err := hearing.Ask(caller, row.ChannelID, []eventtype.Type{eventtype.Type(row.Type)})
	if err != nil {
		return err
	}
	from := *after
	place.After = &from
	return s.server.watch.Deliver(attempt, wish, place, func(message any) error {
		begin()
		switch m := message.(type) {
		case *outbox.Event:
			s.notify(ctx, m.JSON(), m.Cursor)
			*after = m.Position
		case *moderatov1.WatchEventsResponse:
			return s.deliverOther(ctx, row, m, after)
		}
		return ctx.Err()
	})
}

// deliverOther handles a message that is not a kept event: a live event, the number of
// missed ones, or a heartbeat. Nothing is missed up to the cursor of a heartbeat.
func (s *session) deliverOther(ctx context.Context, row *ent.EventSubscription, m *moderatov1.WatchEventsResponse, after *int64) error {
	if m.GetEvent() != nil {
		s.notify(ctx, outbox.JSON(m.GetEvent()), "")
		return ctx.Err()
	}
	if missed := m.GetMissedMessages(); missed > 0 {
		s.tell(ctx, "missed", map[string]any{"id": row.ID, "type": row.Type, "missedMessages": missed})
	}
	at, err := outbox.ParseCursor(ctx, s.server.store, m.GetCursor())
	if err != nil {
		return err
	}
	*after = *at
	return ctx.Err()
}

// revoke removes a subscription whose caller may not hear its events any more, and tells
// the client. It reports false if the client has subscribed again meanwhile.
func (s *session) revoke(ctx context.Context, row *ent.EventSubscription, reason moderatov1.Reason) bool {
	isRemoved, err := s.server.sessions.RemoveSubscription(ctx, row)
	if err != nil {
		if ctx.Err() == nil {
			s.server.log.WarnContext(ctx, "an ended subscription could not be removed; its session ends", "error", err)
			s.conn.close("")
		}
		return true
	}
	if isRemoved {
		s.forget(row.ID)
		s.tell(ctx, "revocation", map[string]any{"id": row.ID, "type": row.Type, "reason": apierr.Code(reason)})
	}
	return isRemoved
}

// tell sends a message that is not an event.
func (s *session) tell(ctx context.Context, messageType string, payload map[string]any) {
	now := s.server.store.Clock.Local().Time().UTC().Format("2006-01-02T15:04:05.000Z")
	text, _ := json.Marshal(map[string]any{ // strings and numbers: it cannot fail
		"metadata": map[string]any{"messageId": uid.New(), "messageType": messageType, "messageTimestamp": now}, "payload": payload,
	})
	s.send(ctx, "eventsub", text)
}

// welcome tells the client that it has joined, and its session. Clients take the id from any
// of the three messages.
func (s *session) welcome(ctx context.Context) {
	s.conn.push(fmt.Appendf(nil, connectPacket+`%s{"sid":%q}`, s.conn.namespace, s.id))
	s.send(ctx, "session_welcome", fmt.Appendf(nil, `{"sessionId":%q}`, s.id))
	s.tell(ctx, "session_welcome", map[string]any{"sessionId": s.id})
}

// metadataEnd is where the metadata of an encoded event end.
var metadataEnd = []byte(`},"payload":`)

// notify sends an event, whose JSON encoding is text. Its metadata also have the event's
// cursor; a live event has none.
func (s *session) notify(ctx context.Context, text []byte, cursor string) {
	at := bytes.Index(text, metadataEnd)
	if cursor != "" {
		cursor = `,"cursor":"` + cursor + `"`
	}
	s.send(ctx, "eventsub", text[:at], []byte(cursor), text[at:])
}
