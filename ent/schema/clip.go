package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Clip is a clip of a channel.
type Clip struct{ ent.Schema }

// Fields of Clip.
func (Clip) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The clip's id."),
		requiredUUID("channel_id", "The channel."),
		requiredUUID("creator_id", "The user who made the clip."),
		text("title", 140, "The title: 1 to 140 characters."),
		field.Int64("view_count").Comment("The number of views: 0 or more."),
		field.Int64("duration").Comment("The length in seconds: 0 or more."),
		text("preview_img_url", 2048, "The URL of a preview picture; may be empty."),
		text("clip_url", 2048, "The URL of the clip; may be empty."),
		field.Int64("category_id").Comment("The category; 0 is Uncategorized."),
		timestamp("created_at", "When the clip was made."),
	}
}

// Indexes of Clip: the two orders of the list, the clips that a user made, and the clips
// of a category.
func (Clip) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("channel_id", "created_at", "id"),
		index.Fields("channel_id", "view_count", "id"),
		index.Fields("creator_id"),
		index.Fields("category_id"),
	}
}

// Annotations of Clip.
func (Clip) Annotations() []schema.Annotation { return []schema.Annotation{table("clips")} }
