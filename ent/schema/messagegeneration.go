package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// MessageGeneration is the generation of a user's messages in a channel. A message is
// visible while its generation is the sum of this one and of the channel's (see
// ChatGeneration). Each deletion of all messages of the user raises the generation to a new
// number, and so deletes them with one write. Undoing the deletion, with the ban or mute that
// made it, sets it back to the number before.
type MessageGeneration struct{ ent.Schema }

// Fields of MessageGeneration.
func (MessageGeneration) Fields() []ent.Field {
	return append(inChannel(),
		field.Int64("generation").Comment("The current generation. A user without a row has generation 0."),
		timestamp("raised_at", "When the generation was last raised: messages sent until then are deleted."),
		optionalTimestamp("purge_at", "When the purger removes rows of other generations next; null if none remain."),
		field.Int64("restorable").Optional().Nillable().Comment("The generation before the latest deletion; null if it cannot be restored."),
		optionalTimestamp("restorable_until", "Until when the latest deletion can be undone; null if restorable is."),
		optionalTimestamp("restorable_raised_at", "The value of raised_at before the latest deletion; null if restorable is."),
		field.Bool("restorable_by_mute").Default(false).Comment("Whether a mute, and not a ban, made the latest deletion; without meaning if restorable is null."),
		field.Int64("earlier").Optional().Nillable().Comment("The generation before the deletion that precedes the latest, if a ban made one of the two and a mute the other; null if it cannot be restored."),
		optionalTimestamp("earlier_until", "Until when that deletion can be undone; null if earlier is."),
		optionalTimestamp("earlier_raised_at", "The value of raised_at before that deletion; null if earlier is."),
		field.Int64("restored_from").Optional().Nillable().Comment("The highest generation that a deletion had made before it was undone; null if the present generation is the highest so far."),
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
