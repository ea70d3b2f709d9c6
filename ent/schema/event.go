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
		requiredUUID("id", "The message id."),
		requiredUUID("channel_id", "The channel."),
		field.Int64("sequence").Immutable().Comment("Counts up by one per channel, without a gap."),
		field.Int64("position").Optional().Nillable().Comment("The place in the global order; null until sequenced."),
		field.String("type").MaxLen(64).Immutable().Comment("For instance channel.ban."),
		requiredUUID("operation_id", "The call that wrote it; tells whether a commit of unknown outcome happened."),
		optionalUUID("actor_id", "The user who acted, of a lapse who had caused it; null when nobody did."),
		optionalUUID("target_id", "The user to whom it was done; null when there is none."),
		field.String("client_id").MaxLen(64).Immutable().Comment("The client through which they acted; may be empty."),
		field.String("request_id").MaxLen(64).Immutable().Comment("The request that caused it; may be empty."),
		timestamp("occurred_at", "When it happened."),
		field.Text("payload").SchemaType(map[string]string{dialect.MySQL: "mediumtext"}).Comment("The payload in JSON."),
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
		// For what a user did and what was done to them, in one channel or in all.
		index.Fields("actor_id", "channel_id", "sequence"),
		index.Fields("target_id", "channel_id", "sequence"),
	}
}

// Annotations of Event.
func (Event) Annotations() []schema.Annotation { return []schema.Annotation{table("events")} }
