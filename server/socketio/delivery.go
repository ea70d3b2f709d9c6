package socketio

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/eventtype"
	"github.com/moderato-live/moderato/server/hearing"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/outbox"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/watch"
)

// maxDelay is the longest pause, without its random part, before a delivery that failed
// continues.
const maxDelay = 2 * time.Second

// delivery is the delivery of a subscription's events.
type delivery struct {
	stop context.CancelFunc
	done chan struct{}

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
	delays := backoff.NewExponentialBackOff()
	delays.MaxInterval = maxDelay
	for ; ; attempt, row = d.attempt(ctx) {
		began := time.Now()
		err := s.deliverFrom(ctx, attempt, row, place, &after)
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
// two attempts.
func (s *session) deliverFrom(ctx, attempt context.Context, row *ent.EventSubscription, place *watch.Place, after *int64) error {
	var actingUser uid.ID
	if row.ActingUserID != nil {
		actingUser = *row.ActingUserID
	}
	caller, err := s.server.authenticator.CallerOf(attempt, row.TokenID, actingUser)
	if err != nil {
		return err
	}
	wish, err := hearing.Ask(caller, row.ChannelID, []eventtype.Type{eventtype.Type(row.Type)})
	if err != nil {
		return err
	}
	from := *after
	place.After = &from
	return s.server.watch.Deliver(attempt, wish, place, func(message any) error {
		switch m := message.(type) {
		case *outbox.Event:
			s.send(ctx, notification(m.JSON(), m.Cursor))
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
		s.send(ctx, notification(outbox.JSON(m.GetEvent()), ""))
		return ctx.Err()
	}
	if missed := m.GetMissedMessages(); missed > 0 {
		s.send(ctx, packet("missed", s.server.store.Clock.Local(), missedPayload{row.ID.String(), row.Type, missed}))
	}
	at, err := outbox.ParseCursor(ctx, s.server.store, m.GetCursor())
	if err != nil {
		return err
	}
	*after = *at
	return ctx.Err()
}

// missedPayload is the payload of the message that a client was too slow for live events.
type missedPayload struct {
	ID             string `json:"id"`
	Type           string `json:"type"`
	MissedMessages int64  `json:"missedMessages"`
}

// revoke removes a subscription whose caller may not hear its events any more, and tells
// the client. It reports false if the client has subscribed again meanwhile.
func (s *session) revoke(ctx context.Context, row *ent.EventSubscription, reason moderatov1.Reason) bool {
	isRemoved, err := s.server.sessions.RemoveSubscription(ctx, row)
	if err != nil {
		if ctx.Err() == nil {
			s.server.log.WarnContext(ctx, "an ended subscription could not be removed; its session ends", "error", err)
			s.hangUp()
		}
		return true
	}
	if isRemoved {
		s.forget(row.ID)
		s.send(ctx, revocation(row, apierr.Code(reason), s.server.store.Clock.Local()))
	}
	return isRemoved
}

// metadata is the metadata of a message that is not an event.
type metadata struct {
	MessageID        string `json:"messageId"`
	MessageType      string `json:"messageType"`
	MessageTimestamp string `json:"messageTimestamp"`
}

// envelope is a message that is not an event.
type envelope struct {
	Metadata metadata `json:"metadata"`
	Payload  any      `json:"payload"`
}

// The parts of an event packet of Socket.IO in the namespace `/`.
const (
	packetStart = `2["eventsub",`
	packetEnd   = `]`
)

func packet(messageType string, now instant.Instant, payload any) []byte {
	text, _ := json.Marshal(envelope{ // strings only: it cannot fail
		metadata{uid.New().String(), messageType, now.Time().UTC().Format("2006-01-02T15:04:05.000Z")}, payload,
	})
	return slices.Concat([]byte(packetStart), text, []byte(packetEnd))
}

// welcome is the first message of a session.
func welcome(session uid.ID, now instant.Instant) []byte {
	return packet("session_welcome", now, map[string]string{"sessionId": session.String()})
}

// revocation is the message that a subscription ended by itself.
func revocation(row *ent.EventSubscription, reason string, now instant.Instant) []byte {
	return packet("revocation", now, map[string]string{"id": row.ID.String(), "type": row.Type, "reason": reason})
}

// metadataEnd is where the metadata of an encoded event end.
var metadataEnd = []byte(`},"payload":`)

// notification is the message with an event, whose JSON encoding is text. Its metadata also
// have the event's cursor; a live event has none.
func notification(text []byte, cursor string) []byte {
	at := bytes.Index(text, metadataEnd)
	var b strings.Builder
	b.Grow(len(packetStart) + len(text) + len(`,"cursor":""`) + len(cursor) + len(packetEnd))
	b.WriteString(packetStart)
	b.Write(text[:at])
	if cursor != "" {
		b.WriteString(`,"cursor":"` + cursor + `"`)
	}
	b.Write(text[at:])
	b.WriteString(packetEnd)
	return []byte(b.String())
}
