package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// EventSession is a Socket.IO session. The server to which the client is connected creates
// the row, and removes it when the client disconnects.
type EventSession struct{ ent.Schema }

// Fields of EventSession.
func (EventSession) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The session's id, which the client gets in the welcome message."),
		requiredUUID("server_id", "The server process to which the client is connected."),
		field.String("client_id").MaxLen(64).Optional().Nillable().Comment("The client to which the session belongs; null until its first subscription."),
		optionalUUID("user_id", "The user to whom the session belongs; null until its first subscription, and if it belongs to an app or service."),
		field.Bool("is_changed").Default(false).Comment("Whether subscriptions changed since the server last read them."),
		timestamp("seen_at", "When the server last confirmed the session, about once a minute. An old row is of a server that crashed."),
	}
}

// Indexes of EventSession: the sessions that a server must read, those of a caller, and
// those of crashed servers.
func (EventSession) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("server_id", "is_changed"),
		index.Fields("client_id", "user_id"),
		index.Fields("user_id"),
		index.Fields("seen_at"),
	}
}

// Annotations of EventSession.
func (EventSession) Annotations() []schema.Annotation {
	return []schema.Annotation{table("event_sessions")}
}
