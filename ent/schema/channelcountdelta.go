package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
)

// ChannelCountDelta is a change of a ChannelCount that is not yet added to it. Each change
// is a separate row, so that changes of different channels do not wait for each other.
type ChannelCountDelta struct{ ent.Schema }

// Fields of ChannelCountDelta.
func (ChannelCountDelta) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The row's id."),
		field.Int64("count_id").Immutable().Comment("The ChannelCount that changes."),
		field.Int64("delta").Immutable().Comment("The number to add; negative if channels left the category."),
	}
}

// Annotations of ChannelCountDelta.
func (ChannelCountDelta) Annotations() []schema.Annotation {
	return []schema.Annotation{table("channel_count_deltas")}
}
