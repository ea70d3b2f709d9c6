package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
)

// ChannelCount holds the number of live channels, or of other channels, in a category. The
// current number is its count plus the deltas of its ChannelCountDeltas.
type ChannelCount struct{ ent.Schema }

// Fields of ChannelCount.
func (ChannelCount) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id").Annotations(entsql.Annotation{Incremental: new(bool)}).Comment("Twice the category's id, plus 1 for live channels."),
		field.Int64("count").Comment("The number of channels, without the deltas that are not yet added."),
	}
}

// Annotations of ChannelCount.
func (ChannelCount) Annotations() []schema.Annotation {
	return []schema.Annotation{table("channel_counts")}
}
