package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Vod is a recorded stream of a channel.
type Vod struct{ ent.Schema }

// Fields of Vod.
func (Vod) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The VOD's id."),
		requiredUUID("channel_id", "The channel."),
		text("title", 140, "The title of the stream: 1 to 140 characters."),
		field.Int64("view_count").Comment("The number of views: 0 or more."),
		field.Int64("duration").Comment("The length in seconds: 0 or more."),
		text("preview_img_url", 2048, "The URL of a preview picture; may be empty."),
		timestamp("started_at", "When the stream started."),
		timestamp("ended_at", "When the stream ended."),
		field.Int64("category_id").Comment("The category; 0 is Uncategorized."),
	}
}

// Indexes of Vod: the two orders of the list, and the VODs of a category.
func (Vod) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("channel_id", "started_at", "id"),
		index.Fields("channel_id", "view_count", "id"),
		index.Fields("category_id"),
	}
}

// Annotations of Vod.
func (Vod) Annotations() []schema.Annotation { return []schema.Annotation{table("vods")} }
