package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// FirstMessage is when a user first posted in a channel, of the messages that retention has
// removed. A user of whom it removed no message has no row.
type FirstMessage struct{ ent.Schema }

// Fields of FirstMessage.
func (FirstMessage) Fields() []ent.Field {
	return append(inChannel(), timestamp("sent_at", "When the earliest of the removed messages was posted."))
}

// Edges of FirstMessage.
func (FirstMessage) Edges() []ent.Edge { return inChannelEdges() }

// Indexes of FirstMessage: the rows of a user.
func (FirstMessage) Indexes() []ent.Index { return []ent.Index{index.Fields("user_id")} }

// Annotations of FirstMessage.
func (FirstMessage) Annotations() []schema.Annotation {
	return []schema.Annotation{table("first_messages"), field.ID("channel_id", "user_id")}
}
