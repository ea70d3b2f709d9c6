package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
)

// inChannel returns the leading fields of a row about one user in one channel.
func inChannel() []ent.Field {
	return []ent.Field{
		requiredUUID("channel_id", "The channel."),
		requiredUUID("user_id", "The user."),
	}
}

// inChannelEdges returns the edges for the fields of inChannel. ent has primary keys of two
// columns only for edges. The generated client has no edges.
func inChannelEdges() []ent.Edge {
	return []ent.Edge{
		edge.To("channel", Channel.Type).Field("channel_id").Unique().Required().Immutable(),
		edge.To("user", User.Type).Field("user_id").Unique().Required().Immutable(),
	}
}
