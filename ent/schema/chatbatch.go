package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// ChatBatch holds messages that one server posted, for the listeners of other servers. It
// is removed after some seconds.
type ChatBatch struct{ ent.Schema }

// Fields of ChatBatch.
func (ChatBatch) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The row's id."),
		requiredUUID("server_id", "The server that posted the messages."),
		field.Int64("sequence").Immutable().Comment("Counts up by one per server, without a gap."),
		timestamp("created_at", "When it was written."),
		field.Bytes("messages").Immutable().SchemaType(map[string]string{dialect.MySQL: "mediumblob", dialect.SQLite: "blob"}).
			Comment("The events, in the order of their posting, each as its length and its protobuf encoding."),
	}
}

// Indexes of ChatBatch: the batches of a server in order, and the rows that are old.
func (ChatBatch) Indexes() []ent.Index {
	return []ent.Index{index.Fields("server_id", "sequence").Unique(), index.Fields("created_at")}
}

// Annotations of ChatBatch.
func (ChatBatch) Annotations() []schema.Annotation {
	return []schema.Annotation{table("chat_batches")}
}
