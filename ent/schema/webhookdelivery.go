package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// WebhookDelivery is an event that was sent, or is to be sent, to a webhook.
type WebhookDelivery struct{ ent.Schema }

// Fields of WebhookDelivery.
func (WebhookDelivery) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The delivery's id."),
		requiredUUID("webhook_id", "The webhook."),
		requiredUUID("channel_id", "The event's channel."),
		requiredUUID("event_id", "The event."),
		field.Int64("position").Immutable().Comment("The event's position."),
		field.String("type").MaxLen(64).Immutable().Comment("The event's type."),
		field.String("status").MaxLen(16).Comment("pending, delivered or failed."),
		field.Bool("is_repeat").Default(false).Comment("Whether it was asked for, and so is outside the order."),
		field.Int32("attempts").Default(0).Comment("How many attempts were made."),
		field.Int32("tries").Default(0).Comment("How many of them since it was taken in, asked for again or enabled again: what the pauses go by."),
		field.Int32("last_status").Optional().Nillable().Comment("The HTTP status of the last answer; null when there was none."),
		emptyText("last_error", 255, "What went wrong at the last attempt; empty when nothing did."),
		optionalTimestamp("first_attempt_at", "When the first attempt was made."),
		timestamp("next_attempt_at", "When the next attempt is due."),
		optionalTimestamp("delivered_at", "When it was delivered last; null when it never was."),
		optionalTimestamp("finished_at", "When it was delivered or given up for good; null while it is to be sent, if only after the webhook is enabled again."),
	}
}

// Indexes of WebhookDelivery: the unique key and the list, the pending deliveries, the old
// deliveries, and the deliveries of a channel.
func (WebhookDelivery) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("webhook_id", "position").Unique(),
		index.Fields("webhook_id", "status", "position"),
		index.Fields("finished_at"),
		index.Fields("channel_id"),
	}
}

// Annotations of WebhookDelivery.
func (WebhookDelivery) Annotations() []schema.Annotation {
	return []schema.Annotation{table("webhook_deliveries")}
}
