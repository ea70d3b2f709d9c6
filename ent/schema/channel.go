package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
)

// Channel is a user's channel. Its row is the channel's serialization point:
// every change that emits an event locks it first.
type Channel struct{ ent.Schema }

// Fields of Channel.
func (Channel) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The id of the channel's owner."),
		text("title", 140, "What the channel is called at present."),
		text("bio", 300, "What the owner says of it; may be empty."),
		text("lang", 35, "A BCP 47 tag in canonical form."),
		field.Int64("category_id").Default(0).Comment("0 is Uncategorized."),
		field.Int64("event_sequence").Default(0).Comment("The sequence of the channel's latest event; counts up by one."),
		timestamp("created_at", "When the row was first put."),
	}
}

// Edges of Channel: who stands how in it.
func (Channel) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("banned_users", User.Type).Through("bans", Ban.Type),
		edge.To("muted_users", User.Type).Through("mutes", Mute.Type),
		edge.To("cleared_users", User.Type).Through("message_generations", MessageGeneration.Type),
	}
}

// Annotations of Channel.
func (Channel) Annotations() []schema.Annotation { return []schema.Annotation{table("channels")} }
