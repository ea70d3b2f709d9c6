package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Emote is a picture that chat messages name.
type Emote struct{ ent.Schema }

// Fields of Emote.
func (Emote) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The emote's id."),
		requiredUUID("channel_id", "The channel; the zero UUID for an emote of the platform."),
		text("name", 40, "The name: 1 to 40 characters, unique in the channel."),
		text("image_url", 2048, "The URL of the picture."),
		field.Bool("is_public").Comment("Whether the emote also shows in other channels."),
	}
}

// Indexes of Emote: the list of a channel, in which names are unique.
func (Emote) Indexes() []ent.Index {
	return []ent.Index{index.Fields("channel_id", "name").Unique()}
}

// Annotations of Emote.
func (Emote) Annotations() []schema.Annotation { return []schema.Annotation{table("emotes")} }
