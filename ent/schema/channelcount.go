package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
)

// ChannelCount is how many channels are in a category, live or not, less what
// ChannelCountDelta adds.
type ChannelCount struct{ ent.Schema }

// Fields of ChannelCount.
func (ChannelCount) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id").Annotations(entsql.Annotation{Incremental: new(bool)}).Comment("Twice the category's id, plus 1 for live channels."),
		field.Int64("count").Comment("How many."),
	}
}

// Annotations of ChannelCount.
func (ChannelCount) Annotations() []schema.Annotation {
	return []schema.Annotation{table("channel_counts")}
}
