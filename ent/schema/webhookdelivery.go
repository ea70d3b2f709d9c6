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
		field.String("status").MaxLen(16).Comment("The status: pending, delivered or failed."),
		field.Bool("is_repeat").Default(false).Comment("Whether the delivery is a requested redelivery, which is sent outside the order of events."),
		field.Int32("attempts").Default(0).Comment("The number of attempts: 0 or more."),
		field.Int32("tries").Default(0).Comment("The number of attempts since the delivery was created or requested again, or the webhook was enabled again. It determines the delay before the next attempt."),
		field.Int32("last_status").Optional().Nillable().Comment("The HTTP status of the latest response; null if there was none."),
		emptyText("last_error", 255, "The error of the latest attempt, or why the delivery failed without one; empty after a success."),
		optionalTimestamp("first_attempt_at", "When the first attempt was made; null before it."),
		timestamp("next_attempt_at", "When the next attempt is due."),
		optionalTimestamp("delivered_at", "When the event was last delivered; null if it never was."),
		optionalTimestamp("finished_at", "When the event was delivered or finally failed; null while it is still to be sent, which includes events that wait until the webhook is enabled again."),
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
