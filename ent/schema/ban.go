package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Ban keeps a user out of a channel. The user is banned while the row exists.
type Ban struct{ ent.Schema }

// Fields of Ban.
func (Ban) Fields() []ent.Field {
	return append(inChannel(),
		requiredUUID("moderator_id", "The user who applied the ban."),
		timestamp("banned_at", "When the ban was applied."),
	)
}

// Edges of Ban.
func (Ban) Edges() []ent.Edge { return inChannelEdges() }

// Indexes of Ban: the list of a channel's banned users.
func (Ban) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("channel_id", "banned_at", "user_id"),
		// For the erasure of a user.
		index.Fields("user_id"),
		index.Fields("moderator_id"),
	}
}

// Annotations of Ban.
func (Ban) Annotations() []schema.Annotation {
	return []schema.Annotation{table("bans"), field.ID("channel_id", "user_id")}
}
