package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Role is a role that a user holds in a channel.
type Role struct{ ent.Schema }

// Fields of Role.
func (Role) Fields() []ent.Field {
	return append([]ent.Field{requiredUUID("id", "The row's id.")}, append(inChannel(),
		field.String("role").MaxLen(16).Immutable().Comment("The role: moderator, vip or og."),
		timestamp("created_at", "When the user got the role."),
	)...)
}

// Indexes of Role: the unique key, the lists by channel, and the channels that a user
// moderates.
func (Role) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("channel_id", "user_id", "role").Unique(),
		index.Fields("channel_id", "role", "created_at", "user_id"),
		index.Fields("user_id", "role", "created_at", "channel_id"),
	}
}

// Annotations of Role.
func (Role) Annotations() []schema.Annotation {
	return []schema.Annotation{table("roles")}
}
