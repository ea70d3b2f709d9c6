package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Mute keeps a user from posting in a channel while now < expires_at. The row of a lapsed
// mute is kept until its event channel.mute.expire is written.
type Mute struct{ ent.Schema }

// Fields of Mute.
func (Mute) Fields() []ent.Field {
	return append(inChannel(),
		requiredUUID("moderator_id", "The user who applied the mute."),
		timestamp("muted_at", "When the mute was applied."),
		timestamp("expires_at", "When the mute ends, exclusive."),
		emptyText("reason", 500, "Why the user is muted; may be empty."),
		optionalUUID("rule_id", "The chat rule that muted the user; null if none did."),
	)
}

// Edges of Mute.
func (Mute) Edges() []ent.Edge { return inChannelEdges() }

// Indexes of Mute: the list of a channel's muted users, the lapsed mutes, and those that a
// moderator or a rule made in a channel.
func (Mute) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("channel_id", "muted_at", "user_id"),
		index.Fields("expires_at"),
		index.Fields("moderator_id", "channel_id", "muted_at", "user_id"),
		index.Fields("channel_id", "rule_id", "muted_at", "user_id"),
	}
}

// Annotations of Mute.
func (Mute) Annotations() []schema.Annotation {
	return []schema.Annotation{table("mutes"), field.ID("channel_id", "user_id")}
}
