package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Stream is a current or past live stream of a channel. The channel's row also holds the
// properties of the current stream.
type Stream struct{ ent.Schema }

// Fields of Stream.
func (Stream) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The row's id."),
		requiredUUID("channel_id", "The channel."),
		timestamp("started_at", "When the stream started."),
		optionalTimestamp("ended_at", "When the stream ended; null while it is live."),
		text("title", 140, "The title: 1 to 140 characters."),
		text("lang", 35, "The language: a BCP 47 tag in canonical form."),
		field.Int64("category_id").Comment("The category; 0 is Uncategorized."),
		text("preview_img_url", 2048, "The URL of a preview picture; may be empty."),
		field.Int64("viewer_count").Comment("The number of viewers, or the last number if the stream has ended: 0 or more."),
	}
}

// Indexes of Stream: its key, the hours of a channel, and the streams of a category.
func (Stream) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("channel_id", "started_at").Unique(),
		index.Fields("channel_id", "ended_at", "started_at"),
		index.Fields("category_id"),
	}
}

// Annotations of Stream.
func (Stream) Annotations() []schema.Annotation { return []schema.Annotation{table("streams")} }
