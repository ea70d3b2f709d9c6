package events

import (
	"context"
	"fmt"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/jsonapi"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

// Event is an event that has its position.
type Event struct {
	// Position is its place in the order of all events.
	Position  int64
	ChannelID uid.ID
	Type      Type
	// Told is the event as listeners get it; not to be changed.
	Told *moderatov1.Event
}

// JSON is an event in its JSON form.
func JSON(e *moderatov1.Event) []byte {
	b := append([]byte(nil), `{"metadata":`...)
	b = jsonapi.Append(b, e.GetMetadata())
	b = append(b, `,"payload":`...)
	m := e.ProtoReflect()
	if f := m.WhichOneof(m.Descriptor().Oneofs().ByName("payload")); f != nil {
		b = jsonapi.Append(b, m.Get(f).Message().Interface())
	} else {
		b = append(b, "{}"...)
	}
	return append(b, '}')
}

const eventColumns = "position, id, channel_id, sequence, type, occurred_at, payload"

// Read answers the events after a position, in their order.
func Read(ctx context.Context, s *store.Store, after int64, limit int) ([]*Event, error) {
	var page []*Event
	err := store.QueryEach(ctx, s.Read, "SELECT "+eventColumns+" FROM events WHERE position > ? ORDER BY position LIMIT ?", []any{after, limit},
		func(scan func(...any) error) error {
			e, err := scanEvent(scan)
			page = append(page, e)
			return err
		})
	return page, s.Classify(err)
}

// scanEvent reads a row of eventColumns.
func scanEvent(scan func(...any) error) (*Event, error) {
	var e Event
	var id uid.ID
	var at instant.Instant
	var payload []byte
	meta := &moderatov1.EventMetadata{MessageType: "notification", SubscriptionVersion: "1"}
	if err := scan(&e.Position, &id, &e.ChannelID, &meta.Sequence, &e.Type, &at, &payload); err != nil {
		return nil, err
	}
	meta.MessageId, meta.ChannelId, meta.SubscriptionType, meta.MessageTimestamp = id.String(), e.ChannelID.String(), string(e.Type), at.Proto()
	e.Told = &moderatov1.Event{Metadata: meta}
	return &e, setPayload(e.Told, e.Type, payload)
}

// setPayload reads a payload into the field of its type. That of a type which a
// later version wrote is left out.
func setPayload(e *moderatov1.Event, kind Type, payload []byte) error {
	for _, k := range kinds {
		if k.kind != kind {
			continue
		}
		m := e.ProtoReflect()
		field := m.Mutable(m.Descriptor().Fields().ByName(k.payload)).Message().Interface()
		if err := jsonapi.Unmarshal(payload, field, jsonapi.Options{}); err != nil {
			return fmt.Errorf("payload of event %s: %w", e.GetMetadata().GetMessageId(), err)
		}
	}
	return nil
}
