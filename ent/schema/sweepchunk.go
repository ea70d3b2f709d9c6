package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// SweepChunk holds users whom a sweep is to ban in one transaction, which removes the row.
type SweepChunk struct{ ent.Schema }

// Fields of SweepChunk.
func (SweepChunk) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The row's id."),
		requiredDigest("sweep_id", "The sweep."),
		requiredUUID("channel_id", "The channel."),
		field.Int("number").Immutable().Comment("The place among the chunks of the sweep."),
		field.Bytes("user_ids").SchemaType(map[string]string{dialect.MySQL: "blob", dialect.SQLite: "blob"}).
			Comment("The ids of the users, 16 bytes each. An erased user's id is removed."),
	}
}

// Indexes of SweepChunk: the chunks of a sweep in order, and those of a channel.
func (SweepChunk) Indexes() []ent.Index {
	return []ent.Index{index.Fields("sweep_id", "number").Unique(), index.Fields("channel_id")}
}

// Annotations of SweepChunk.
func (SweepChunk) Annotations() []schema.Annotation {
	return []schema.Annotation{table("sweep_chunks")}
}
