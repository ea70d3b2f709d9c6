package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Webhook is a receiver to which events are sent, with the progress of sending. Every
// event up to position has been examined. Those that are to be sent are rows of
// WebhookDelivery.
type Webhook struct{ ent.Schema }

// Fields of Webhook.
func (Webhook) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The webhook's id."),
		optionalUUID("channel_id", "The channel; null means every channel."),
		optionalUUID("user_id", "The user who created the webhook; null if a backend did."),
		field.String("client_id").MaxLen(64).Immutable().Comment("The client that created the webhook."),
		text("url", 2048, "The URL of the receiver."),
		text("types", 2048, "The event types to send, separated by spaces; empty means all types."),
		text("secret", 64, "The key that signs deliveries."),
		emptyText("former_secret", 64, "The previous key; empty if there is none."),
		optionalTimestamp("former_until", "Until when deliveries are also signed with the former secret; null if there is none."),
		timestamp("created_at", "When the webhook was created."),
		emptyText("disabled_reason", 16, "Why the webhook is disabled: failing, gone, right_lost, behind or deleted; empty while it is enabled."),
		optionalTimestamp("last_success_at", "When an event was last delivered; null before the first."),
		emptyText("last_error", 255, "The error of the latest attempt; empty after a success."),
		field.Int64("position").Comment("The position up to which every event was examined."),
		optionalTimestamp("heard_from", "After a time without the right: events that happened earlier are not sent, even if they get their position later. Null means that the position alone decides."),
		optionalTimestamp("next_at", "When a worker may claim the webhook; null while there is nothing to send. While it is claimed: when another worker may take over."),
		field.Bool("is_claimed").Default(false).Comment("Whether a worker has claimed the webhook."),
		field.Bool("is_slow").Default(false).Comment("Whether the receiver's latest response was slow."),
		field.Bool("is_blocked").Default(false).Comment("Whether new events have to wait until next_at."),
		field.Int64("epoch").Default(0).Comment("Increases by one whenever another worker or a call takes over. A worker with an earlier epoch writes nothing."),
		field.String("audience").MaxLen(16).Default("moderators").Immutable().
			Comment("The narrowest audience of its types, and so the right that it needs: public, channel or moderators."),
		field.String("holder").MaxLen(16).Default("").Immutable().
			Comment("Who it belongs to: viewer, for a user who neither owned nor moderated the channel; app; empty for the people of the channel and for backends."),
		optionalTimestamp("paused_until", "Until when the receiver requested that nothing is sent, with Retry-After; null if it did not."),
	}
}

// Indexes of Webhook: the webhooks of a channel, of a user and of an app, and those that
// are due or deleted.
func (Webhook) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("channel_id"), index.Fields("user_id"), index.Fields("next_at"), index.Fields("disabled_reason"),
		index.Fields("client_id", "holder"),
	}
}

// Annotations of Webhook.
func (Webhook) Annotations() []schema.Annotation { return []schema.Annotation{table("webhooks")} }
