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
		requiredUUID("creator_id", "Who made it."),
		text("title", 140, "What it is called."),
		field.Int64("view_count").Comment("How often it was viewed."),
		field.Int64("duration").Comment("Its length in seconds."),
		text("preview_img_url", 2048, "May be empty."),
		text("clip_url", 2048, "May be empty."),
		field.Int64("category_id").Comment("0 is Uncategorized."),
		timestamp("created_at", "When it was made."),
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
