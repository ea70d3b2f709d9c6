package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// ChatServer is a running server that has listeners for chat messages, or that posted
// messages for the listeners of other servers.
type ChatServer struct{ ent.Schema }

// Fields of ChatServer.
func (ChatServer) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "An id that the server chose when it started."),
		timestamp("listens_until", "Until when it has listeners, unless it renews the row; 0 when it has none."),
		field.Int64("sequence").Comment("The number of its latest batch; 0 before the first."),
		timestamp("expires_at", "When the row may be removed, unless the server renews it."),
	}
}

// Indexes of ChatServer: the rows that have expired.
func (ChatServer) Indexes() []ent.Index { return []ent.Index{index.Fields("expires_at")} }

// Annotations of ChatServer.
func (ChatServer) Annotations() []schema.Annotation {
	return []schema.Annotation{table("chat_servers")}
}
