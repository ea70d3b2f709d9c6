package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// MessageGeneration counts how often a user's messages in a channel were
// deleted. A message is visible while its generation is the sum of this one and of the
// channel's (see ChatGeneration). Incrementing the generation therefore deletes all
// existing messages with one write.
type MessageGeneration struct{ ent.Schema }

// Fields of MessageGeneration.
func (MessageGeneration) Fields() []ent.Field {
	return append(inChannel(),
		field.Int64("generation").Comment("The current generation: 1 or more. A user without a row has generation 0."),
		timestamp("raised_at", "When the generation was last incremented: messages sent until then are deleted."),
		optionalTimestamp("purge_at", "When the purger removes rows of older generations next; null if none remain."),
	)
}

// Edges of MessageGeneration.
func (MessageGeneration) Edges() []ent.Edge { return inChannelEdges() }

// Indexes of MessageGeneration: the rows that are due for the purger, and the rows of a
// user.
func (MessageGeneration) Indexes() []ent.Index {
	return []ent.Index{index.Fields("purge_at"), index.Fields("user_id")}
}

// Annotations of MessageGeneration.
func (MessageGeneration) Annotations() []schema.Annotation {
	return []schema.Annotation{table("message_generations"), field.ID("channel_id", "user_id")}
}
