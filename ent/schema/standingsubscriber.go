package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// StandingSubscriber is a chat server that holds standings, as of its latest stream. The
// server of the stream renews the row.
type StandingSubscriber struct{ ent.Schema }

// Fields of StandingSubscriber.
func (StandingSubscriber) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The id of the stream."),
		field.String("client_id").MaxLen(64).Immutable().Comment("The client of the chat server."),
		field.String("name").MaxLen(64).Immutable().Comment("The name that the chat server chose."),
		field.Bool("hears_all").Immutable().Comment("Whether it holds the standings of every channel."),
		field.Bytes("channel_ids").SchemaType(blob).Immutable().Comment("The ids of its channels, one after the other; empty if it hears all."),
		field.Int64("position").Comment("The position up to which it has applied all changes; -1 while it has no complete state."),
		field.Bytes("delays").SchemaType(blob).Comment("How long its latest changes took: pairs of a position (8 bytes) and milliseconds (4 bytes), ascending."),
		timestamp("expires_at", "When it counts no longer, unless the row is renewed."),
	}
}

var blob = map[string]string{dialect.MySQL: "blob", dialect.SQLite: "blob"}

// Indexes of StandingSubscriber: the chat server, and the rows that have expired.
func (StandingSubscriber) Indexes() []ent.Index {
	return []ent.Index{index.Fields("client_id", "name").Unique(), index.Fields("expires_at")}
}

// Annotations of StandingSubscriber.
func (StandingSubscriber) Annotations() []schema.Annotation {
	return []schema.Annotation{table("standing_subscribers")}
}
