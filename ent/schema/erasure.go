package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Erasure is a deleted user or channel whose rows are still to be removed or anonymized.
type Erasure struct{ ent.Schema }

// Fields of Erasure.
func (Erasure) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The id of the user and of the user's channel, which is the same."),
		field.Bool("is_user").Comment("Whether the user is erased with the channel, or only the channel."),
		timestamp("requested_at", "When the deletion was requested."),
		timestamp("next_at", "When an eraser may claim the row next."),
	}
}

// Indexes of Erasure: the erasures that are due.
func (Erasure) Indexes() []ent.Index { return []ent.Index{index.Fields("next_at")} }

// Annotations of Erasure.
func (Erasure) Annotations() []schema.Annotation { return []schema.Annotation{table("erasures")} }
