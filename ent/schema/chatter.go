package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Chatter is a user who posted in a channel during the last 30 days. The first message of a
// day writes the row.
type Chatter struct{ ent.Schema }

// Fields of Chatter.
func (Chatter) Fields() []ent.Field {
	return append(inChannel(), timestamp("last_day", "The start of the latest day, in UTC, on which the user posted."))
}

// Edges of Chatter.
func (Chatter) Edges() []ent.Edge { return inChannelEdges() }

// Indexes of Chatter: the number of a channel's chatters, the rows to remove, and the rows of
// a user.
func (Chatter) Indexes() []ent.Index {
	return []ent.Index{index.Fields("channel_id", "last_day"), index.Fields("last_day"), index.Fields("user_id")}
}

// Annotations of Chatter.
func (Chatter) Annotations() []schema.Annotation {
	return []schema.Annotation{table("chatters"), field.ID("channel_id", "user_id")}
}
