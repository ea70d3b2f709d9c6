package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/moderato-live/moderato/internal/digest"
)

// EventSubscription is a subscription of an EventSession to a type of events of a channel.
type EventSubscription struct{ ent.Schema }

// Fields of EventSubscription.
func (EventSubscription) Fields() []ent.Field {
	binary := map[string]string{dialect.MySQL: "binary(32)", dialect.SQLite: "blob"}
	return []ent.Field{
		requiredUUID("id", "The subscription's id. Ids increase with time."),
		requiredUUID("session_id", "The session."),
		text("type", 64, "The event type."),
		requiredUUID("channel_id", "The channel."),
		requiredUUID("condition_user_id", "The user in the condition, which selects nothing; all zeros if there is none."),
		field.Bytes("token_id").GoType(digest.SHA256{}).SchemaType(binary).Comment("The token whose rights the subscription has."),
		optionalUUID("acting_user_id", "The user for whom a service token acts; null for other tokens."),
		field.Int64("position").Comment("The position after which the subscription begins."),
		timestamp("created_at", "When the subscription was created."),
	}
}

// Indexes of EventSubscription: those of a session, and those that erasure removes.
func (EventSubscription) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("session_id", "type", "channel_id").Unique(),
		index.Fields("channel_id"),
		index.Fields("condition_user_id"),
		index.Fields("acting_user_id"),
	}
}

// Annotations of EventSubscription.
func (EventSubscription) Annotations() []schema.Annotation {
	return []schema.Annotation{table("event_subscriptions")}
}
