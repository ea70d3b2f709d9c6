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
		optionalUUID("channel_id", "The channel; null for every channel."),
		optionalUUID("user_id", "The user who made it; null when a backend did."),
		field.String("client_id").MaxLen(64).Immutable().Comment("The client through which it was made."),
		text("url", 2048, "The receiver."),
		text("types", 2048, "The types that are sent, separated by spaces; empty for all."),
		text("secret", 64, "The key that deliveries are signed with."),
		emptyText("former_secret", 64, "The key before it; empty when there is none."),
		optionalTimestamp("former_until", "Until when deliveries are signed with the former secret as well."),
		timestamp("created_at", "When it was made."),
		emptyText("disabled_reason", 16, "failing, gone, right_lost, behind, deleted; empty while it is enabled."),
		optionalTimestamp("last_success_at", "When an event was delivered last."),
		emptyText("last_error", 255, "What went wrong at the last attempt that failed; empty after a success."),
		field.Int64("position").Comment("The position up to which events were looked at."),
		optionalTimestamp("heard_from", "Events that happened before are not sent; null when all are. Some of them may not have their position yet."),
		optionalTimestamp("next_at", "When to look at it; null while there is nothing to send. Of a claimed one, when others take over."),
		field.Bool("is_claimed").Default(false).Comment("Whether a server works on it."),
		field.Bool("is_slow").Default(false).Comment("Whether the receiver's last answer took long."),
		field.Bool("is_blocked").Default(false).Comment("Whether new events change nothing before next_at."),
		field.Int64("epoch").Default(0).Comment("Counts up whenever another server, or a caller, takes over: who has an earlier one writes nothing."),
		field.String("audience").MaxLen(16).Default("moderators").Immutable().
			Comment("The narrowest audience of its types, and so the right that it needs: public, channel or moderators."),
		field.String("holder").MaxLen(16).Default("").Immutable().
			Comment("Who it belongs to: viewer, for a user who neither owned nor moderated the channel; app; empty for the people of the channel and for backends."),
		optionalTimestamp("paused_until", "Until when the receiver asked to be left alone; null when it did not."),
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
