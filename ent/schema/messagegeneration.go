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
// number, and so deletes them with one write. Undoing a batch of bans sets it back to the
// number before the batch.
type MessageGeneration struct{ ent.Schema }

// Fields of MessageGeneration.
func (MessageGeneration) Fields() []ent.Field {
	return append(inChannel(),
		field.Int64("generation").Comment("The current generation. A user without a row has generation 0."),
		timestamp("raised_at", "When the generation was last raised: messages sent until then are deleted."),
		optionalTimestamp("purge_at", "When the purger removes rows of other generations next; null if none remain."),
		field.Int64("restorable").Optional().Nillable().Comment("The generation before the batch of bans that made the latest deletion; null if something else made it."),
		optionalTimestamp("restorable_until", "Until when the batch can restore the messages; null if restorable is."),
		optionalTimestamp("restorable_raised_at", "The value of raised_at before the batch; null if restorable is."),
		field.Int64("restored_from").Optional().Nillable().Comment("The generation that a batch had made and that an undo replaced with the one before; null if the present generation is the highest so far."),
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
