package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// ReplacedBan is a ban that another ban of the user in the channel replaced. It is in force
// again if what replaced it is undone, and it would still run. It ends with the row of Ban.
type ReplacedBan struct{ ent.Schema }

// Fields of ReplacedBan.
func (ReplacedBan) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The row's id."),
		requiredUUID("channel_id", "The channel."),
		requiredUUID("user_id", "The user."),
		field.Int64("sequence").Immutable().Comment("The sequence of the event of the ban that replaced it."),
		requiredUUID("moderator_id", "The user who applied the ban."),
		timestamp("banned_at", "When the ban was applied."),
		emptyText("reason", 500, "Why the user was banned; may be empty."),
		optionalTimestamp("expires_at", "When the ban ends, exclusive; null if it lasts until it is removed."),
		optionalUUID("batch_id", "The batch that banned the user; null if it was none."),
		field.Bool("replaces").Default(false).Comment("Whether it replaced another ban of the user: then it deleted no messages."),
		field.Bool("imported").Default(false).Comment("Whether it was imported: then it has no events."),
	}
}

// Indexes of ReplacedBan: the replaced bans of a user in a channel, those of a batch, and for
// the erasure of a user, the user's and those that the user made.
func (ReplacedBan) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("channel_id", "user_id", "sequence").Unique(), index.Fields("batch_id"), index.Fields("user_id"),
		index.Fields("moderator_id", "channel_id", "banned_at"),
	}
}

// Annotations of ReplacedBan.
func (ReplacedBan) Annotations() []schema.Annotation {
	return []schema.Annotation{table("replaced_bans")}
}
