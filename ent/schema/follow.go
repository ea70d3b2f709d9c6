package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Follow records that a user follows a channel.
type Follow struct{ ent.Schema }

// Fields of Follow.
func (Follow) Fields() []ent.Field {
	return append(inChannel(),
		timestamp("followed_at", "When the follow began."),
		field.Bool("is_notification_enabled").Comment("Whether the user wants a notification when the channel goes live."),
	)
}

// Edges of Follow.
func (Follow) Edges() []ent.Edge { return inChannelEdges() }

// Indexes of Follow: the followers of a channel, and the channels that a user follows.
func (Follow) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("channel_id", "followed_at", "user_id"),
		index.Fields("user_id", "followed_at", "channel_id"),
	}
}

// Annotations of Follow.
func (Follow) Annotations() []schema.Annotation {
	return []schema.Annotation{table("follows"), field.ID("channel_id", "user_id")}
}
