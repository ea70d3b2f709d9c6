// Package outbox holds the events of all channels. The transaction of a change writes its
// events in the channel's own sequence. Afterwards the Sequencer assigns them positions,
// which is the order of all events, and the Trimmer removes them when they expire.
package outbox

import (
	"context"
	"fmt"
	"sync"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/eventsequencer"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/jsonapi"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/store"
)

// cursorList is the name to which cursors of events are bound.
const cursorList = "events"

// Event is an event that has a position.
type Event struct {
	ID uid.ID
	// Position is the place of the event in the order of all events.
	Position   int64
	ChannelID  uid.ID
	Type       eventtype.Type
	OccurredAt instant.Instant
	// IsGone reports whether the event's channel is being deleted. Such an event must
	// not be delivered any more.
	IsGone bool
	// TargetID is the user whom the event affects; zero for none.
	TargetID uid.ID
	// Cursor is the cursor from which a listener resumes after this event.
	Cursor string
	// Traceparent is the span of the call that caused the event; empty for none. See
	// package tracing.
	Traceparent string
	// Message is the event as listeners receive it. It must not be modified.
	Message *moderatov1.Event

	// response is Message with Cursor: the message of a stream, for all listeners.
	response *moderatov1.WatchEventsResponse
	json     func() []byte
}

// Cursor returns the cursor for a position.
func Cursor(ctx context.Context, s *store.Store, position int64) (string, error) {
	return s.Cursors.Seal(ctx, cursorList, position)
}

// ParseCursor returns the position of a cursor; nil for an empty cursor.
func ParseCursor(ctx context.Context, s *store.Store, text string) (*int64, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // the present
	}
	var position int64
	if err := paging.Read(ctx, s, cursorList, text, &position); err != nil {
		return nil, err
	}
	return &position, nil
}

// eventColumns are the columns that scanEvent reads. Whether the channel is being
// deleted is a scalar subquery, so that it does not affect how the rows are found.
const eventColumns = "position, id, channel_id, sequence, type, occurred_at, payload, target_id, traceparent, (SELECT COUNT(*) FROM erasures x WHERE x.id = events.channel_id)"

// Read reads the events after a position, by position.
func Read(ctx context.Context, s *store.Store, after int64, limit int) ([]*Event, error) {
	return read(ctx, s, "position > ? ORDER BY position LIMIT ?", []any{after, limit})
}

// ReadTypes reads the events of some types after a position and up to another, by
// position.
func ReadTypes(ctx context.Context, s *store.Store, types []eventtype.Type, after, upTo int64, limit int) ([]*Event, error) {
	args := []any{after, upTo}
	for _, kind := range types {
		args = append(args, kind)
	}
	return read(ctx, s, "position > ? AND position <= ? AND type IN ("+store.Placeholders(len(types))+") ORDER BY position"+store.Limit(limit), args)
}

// ReadAt reads the events at some positions, by position.
func ReadAt(ctx context.Context, s *store.Store, positions []int64) ([]*Event, error) {
	args := store.Args(positions)
	return read(ctx, s, "position IN ("+store.Placeholders(len(args))+") ORDER BY position", args)
}

func read(ctx context.Context, s *store.Store, where string, args []any) ([]*Event, error) {
	var page []*Event
	err := store.QueryEach(ctx, s.Read, "SELECT "+eventColumns+" FROM events WHERE "+where, args,
		func(scan func(...any) error) error {
			e, err := scanEvent(ctx, s, scan)
			page = append(page, e)
			return err
		})
	return page, s.Classify(err)
}

// ByID reads events by id. It leaves out events that do not exist, that have no
// position, or whose channel is being deleted.
func ByID(ctx context.Context, s *store.Store, q store.Queryer, ids []uid.ID) (map[uid.ID]*Event, error) {
	found := make(map[uid.ID]*Event, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	args := store.Args(ids)
	err := store.QueryEach(ctx, q, "SELECT "+eventColumns+" FROM events WHERE id IN ("+store.Placeholders(len(ids))+") AND position IS NOT NULL", args,
		func(scan func(...any) error) error {
			e, err := scanEvent(ctx, s, scan)
			if err == nil && !e.IsGone {
				found[e.ID] = e
			}
			return err
		})
	return found, err
}

// Positions describes the order of all events.
type Positions struct {
	// Last is the last position that was assigned.
	Last int64
	// Trimmed is the highest position whose event retention removed.
	Trimmed int64
	// Rewrites is how often events that have positions were changed or removed.
	Rewrites int64
	// Imports is how often an import changed bans, mutes or roles, of which no event tells.
	Imports int64
}

// ReadPositions returns the present Positions.
func ReadPositions(ctx context.Context, q store.Queryer) (at Positions, err error) {
	err = store.QueryRow(ctx, q, "SELECT last_position, trimmed_position, rewrites, imports FROM event_sequencers WHERE id = ?", []any{theRow},
		&at.Last, &at.Trimmed, &at.Rewrites, &at.Imports)
	return at, err
}

// Rewrite makes every process discard the events that it read before this
// transaction, because the transaction changes or removes some of them. Call it last
// in the transaction: it locks the sequencer's row, and the sequencer waits for it.
func Rewrite(ctx context.Context, tx *ent.Tx) error {
	return tx.EventSequencer.Update().Where(eventsequencer.ID(theRow)).AddRewrites(1).Exec(ctx)
}

// scanEvent reads a row of eventColumns.
func scanEvent(ctx context.Context, s *store.Store, scan func(...any) error) (*Event, error) {
	var e Event
	var payload []byte
	var target *uid.ID
	var traceparent *string
	meta := &moderatov1.EventMetadata{MessageType: "notification", SubscriptionVersion: "1"}
	if err := scan(&e.Position, &e.ID, &e.ChannelID, &meta.Sequence, &e.Type, &e.OccurredAt, &payload, &target, &traceparent, &e.IsGone); err != nil {
		return nil, err
	}
	if target != nil {
		e.TargetID = *target
	}
	if traceparent != nil {
		e.Traceparent = *traceparent
	}
	var err error
	if e.Cursor, err = Cursor(ctx, s, e.Position); err != nil {
		return nil, err
	}
	payload = s.Pictures.FillJSON(payload)
	meta.MessageId, meta.ChannelId, meta.SubscriptionType, meta.MessageTimestamp = e.ID.String(), e.ChannelID.String(), string(e.Type), e.OccurredAt.Proto()
	e.Message = &moderatov1.Event{Metadata: meta}
	e.response = &moderatov1.WatchEventsResponse{Cursor: e.Cursor, Event: e.Message}
	e.json = sync.OnceValue(func() []byte { return encode(meta, payload) })
	return &e, setPayload(e.Message, e.Type, payload)
}

// setPayload decodes a payload into the field of its type. The payload of an unknown
// type, written by a later version, is left out.
func setPayload(e *moderatov1.Event, kind eventtype.Type, payload []byte) error {
	field := kind.MutablePayload(e)
	if field == nil {
		return nil
	}
	if err := jsonapi.Unmarshal(payload, field, jsonapi.Options{}); err != nil {
		return fmt.Errorf("payload of event %s: %w", e.GetMetadata().GetMessageId(), err)
	}
	return nil
}
