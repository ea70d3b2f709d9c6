package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Stream is a present or past live stream of a channel. The channel's row also holds the
// properties of the present stream.
type Stream struct{ ent.Schema }

// Fields of Stream.
func (Stream) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The row's id."),
		requiredUUID("channel_id", "The channel."),
		timestamp("started_at", "When it started."),
		optionalTimestamp("ended_at", "When it ended; null while it is live."),
		text("title", 140, "What it is called."),
		text("lang", 35, "A BCP 47 tag in canonical form."),
		field.Int64("category_id").Comment("0 is Uncategorized."),
		text("preview_img_url", 2048, "May be empty."),
		field.Int64("viewer_count").Comment("How many watch, or watched last."),
	}
}

// Indexes of Stream.
func (Stream) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("channel_id", "started_at").Unique(),
		index.Fields("category_id"),
	}
}

// Annotations of Stream.
func (Stream) Annotations() []schema.Annotation { return []schema.Annotation{table("streams")} }
