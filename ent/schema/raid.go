package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Raid is a raid of a channel: another channel sent its viewers.
type Raid struct{ ent.Schema }

// Fields of Raid.
func (Raid) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The raid's id."),
		requiredUUID("channel_id", "The channel that was raided."),
		text("dedup_key", 64, "The key of the raid, unique in the raided channel: 1 to 64 characters."),
		requiredUUID("raider_id", "The owner of the channel whose viewers came."),
		field.Int64("viewer_count").Comment("The number of viewers who came: 0 or more."),
		timestamp("raided_at", "When the raid happened."),
	}
}

// Indexes of Raid: the list of a channel's raids.
func (Raid) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("channel_id", "dedup_key").Unique(),
		index.Fields("channel_id", "raided_at", "id"),
		// For the erasure of a user.
		index.Fields("raider_id"),
	}
}

// Annotations of Raid.
func (Raid) Annotations() []schema.Annotation { return []schema.Annotation{table("raids")} }
