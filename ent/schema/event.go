package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Event is something that happened in a channel. The table is both the outbox of the
// notifications and the log of who did what. An event is written in the transaction of the
// change that it reports.
type Event struct{ ent.Schema }

// Fields of Event.
func (Event) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The event's id, which listeners receive as messageId."),
		requiredUUID("channel_id", "The channel."),
		field.Int64("sequence").Immutable().Comment("The number of the event in its channel: increases by one without a gap, from 1."),
		field.Int64("position").Optional().Nillable().Comment("The position in the order of all events: dense, from 1; null until a sequencer assigns it."),
		field.String("type").MaxLen(64).Immutable().Comment("The event type, for example channel.ban."),
		requiredUUID("operation_id", "The id of the operation that wrote the event. After a commit with an unknown outcome, a retry uses it to find out whether the events were written."),
		optionalUUID("actor_id", "The user who caused the event; for the end of a mute, the user who applied the mute. Null if no user did."),
		optionalUUID("target_id", "The user whom the event affects; null if there is none."),
		field.String("client_id").MaxLen(64).Immutable().Comment("The client that made the request; may be empty."),
		field.String("request_id").MaxLen(64).Immutable().Comment("The id of the request that caused the event; may be empty."),
		timestamp("occurred_at", "When the event happened."),
		field.Text("payload").SchemaType(map[string]string{dialect.MySQL: "mediumtext"}).Comment("The payload: a JSON object."),
		field.Text("evidence").Optional().Nillable().SchemaType(map[string]string{dialect.MySQL: "mediumtext"}).
			Comment("For a ban or mute, the latest messages of the user before it, newest first: a JSON array. Null if there are none."),
		field.String("traceparent").MaxLen(55).Optional().Nillable().Immutable().
			Comment("The span of the call that caused the event, as the header traceparent of W3C Trace Context. Null unless the call was traced."),
	}
}

// Indexes of Event.
func (Event) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("channel_id", "sequence").Unique(),
		// For the log by type.
		index.Fields("channel_id", "type", "sequence"),
		// For listeners of a channel that catch up.
		index.Fields("channel_id", "type", "position"),
		// For reads in the global order. The events without a position come first, the
		// oldest of them first.
		index.Fields("position", "occurred_at", "channel_id", "sequence"),
		// For retention.
		index.Fields("type", "occurred_at"),
		// For the events that a user caused and those that affect a user, in one channel or in all.
		index.Fields("actor_id", "channel_id", "sequence"),
		index.Fields("target_id", "channel_id", "sequence"),
	}
}

// Annotations of Event.
func (Event) Annotations() []schema.Annotation { return []schema.Annotation{table("events")} }
