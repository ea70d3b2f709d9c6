package change

import (
	"context"
	"slices"
	"strings"

	"github.com/moderato-live/moderato/ent"
	entevent "github.com/moderato-live/moderato/ent/event"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
)

// event is an event that a change will write.
type event struct {
	id                  uid.ID
	channelID           uid.ID
	sequence            int64
	kind                eventtype.Type
	operationID         uid.ID
	actorID, targetID   *uid.ID // nil for none
	clientID, requestID string
	occurredAt          instant.Instant
	payload             string
	evidence            *string // nil for none
	traceparent         string  // empty for none
}

// eventColumns are the columns of an event that a change writes. The sequencer writes the
// position. Only the events of traced calls have the column traceparent: a statement takes
// time for each of its parameters.
var eventColumns = []string{
	entevent.FieldID, entevent.FieldChannelID, entevent.FieldSequence, entevent.FieldType, entevent.FieldOperationID,
	entevent.FieldActorID, entevent.FieldTargetID, entevent.FieldClientID, entevent.FieldRequestID,
	entevent.FieldOccurredAt, entevent.FieldPayload, entevent.FieldEvidence,
}

// insertEvents writes events in one statement. It does not use ent, whose bulk
// insert takes as much time as the database.
func insertEvents(ctx context.Context, tx *ent.Tx, events []event) error {
	columns := eventColumns
	isTraced := slices.ContainsFunc(events, func(e event) bool { return e.traceparent != "" })
	if isTraced {
		columns = append(slices.Clip(columns), entevent.FieldTraceparent)
	}
	row := "(" + strings.TrimSuffix(strings.Repeat("?,", len(columns)), ",") + "),"
	text := "INSERT INTO events (" + strings.Join(columns, ", ") + ") VALUES " +
		strings.TrimSuffix(strings.Repeat(row, len(events)), ",")
	args := make([]any, 0, len(columns)*len(events))
	for _, e := range events {
		args = append(args, e.id, e.channelID, e.sequence, string(e.kind), e.operationID,
			e.actorID, e.targetID, e.clientID, e.requestID,
			e.occurredAt, e.payload, e.evidence)
		if isTraced {
			args = append(args, nullable(e.traceparent))
		}
	}
	_, err := tx.ExecContext(ctx, text, args...)
	return err
}

// nullable returns a text as an argument: NULL if it is empty.
func nullable(text string) any {
	if text == "" {
		return nil
	}
	return text
}
