package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Ban keeps a user out of a channel. The ban is in force while now < expires_at, or, if
// expires_at is null, while the row exists. The row of a lapsed ban is kept until its event
// channel.unban is written. authz.InForce is the condition in SQL.
type Ban struct{ ent.Schema }

// Fields of Ban.
func (Ban) Fields() []ent.Field {
	return append(inChannel(),
		requiredUUID("moderator_id", "The user who applied the ban."),
		timestamp("banned_at", "When the ban was applied."),
		emptyText("reason", 500, "Why the user is banned; may be empty."),
		optionalTimestamp("expires_at", "When the ban ends, exclusive; null if it lasts until it is removed."),
		optionalUUID("batch_id", "The batch that banned the user; null if it was none."),
		field.Bool("replaces").Default(false).Comment("Whether it replaced another ban of the user: then it deleted no messages."),
		field.Bool("imported").Default(false).Comment("Whether it was imported: then it has no events."),
	)
}

// Edges of Ban.
func (Ban) Edges() []ent.Edge { return inChannelEdges() }

// Indexes of Ban: the list of a channel's banned users, the lapsed bans, and the bans of a
// batch.
func (Ban) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("channel_id", "banned_at", "user_id"),
		index.Fields("expires_at"),
		index.Fields("batch_id", "channel_id", "banned_at", "user_id"),
		// For the erasure of a user.
		index.Fields("user_id"),
		// For the bans that a moderator made in a channel, and the erasure of a user.
		index.Fields("moderator_id", "channel_id", "banned_at", "user_id"),
	}
}

// Annotations of Ban.
func (Ban) Annotations() []schema.Annotation {
	return []schema.Annotation{table("bans"), field.ID("channel_id", "user_id")}
}
