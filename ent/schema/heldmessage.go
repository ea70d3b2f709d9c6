package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// HeldMessage is a message that waits for a decision of a moderator, or waited for one.
type HeldMessage struct{ ent.Schema }

// Fields of HeldMessage.
func (HeldMessage) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The id that the message has, or would have, once it is posted."),
		requiredUUID("channel_id", "The channel."),
		requiredUUID("user_id", "The sender."),
		text("text", 500, "The text: 1 to 500 characters."),
		field.Text("details").Immutable().SchemaType(map[string]string{dialect.MySQL: "text"}).
			Comment("The facts about the sender, and the rules with the parts of the text that match: a JSON object."),
		optionalUUID("rule_id", "The strictest rule that held the message; null if none did."),
		optionalUUID("reply_to_message_id", "The message that it replies to; null if it is no reply."),
		field.Bool("is_bot").Default(false).Comment("Whether a program posted the message."),
		timestamp("held_at", "When it was held."),
		timestamp("expires_at", "When it is decided without a moderator."),
		field.Bool("approves").Default(false).Comment("Whether it is posted then."),
		optionalTimestamp("due_at", "The same as expires_at while it is pending, else null."),
		text("status", 16, "PENDING, APPROVED, DENIED, EXPIRED or CANCELLED."),
		optionalUUID("claimed_by", "The moderator who claims it; null if nobody does."),
		optionalTimestamp("claimed_until", "When the claim ends, exclusive."),
		optionalUUID("decided_by", "The moderator who decided; null if nobody did."),
		optionalTimestamp("decided_at", "When it was decided, expired or was cancelled; null while it is pending."),
	}
}

// Indexes of HeldMessage: the queue of a channel, the messages of a sender and of a rule, those to
// decide without a moderator, old ones, and for erasures those of a moderator.
func (HeldMessage) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("channel_id", "status", "held_at", "id"),
		index.Fields("user_id", "channel_id", "status", "held_at", "id"),
		index.Fields("channel_id", "rule_id", "status", "held_at", "id"),
		index.Fields("due_at"),
		index.Fields("decided_at"),
		index.Fields("claimed_by"),
		index.Fields("decided_by"),
	}
}

// Annotations of HeldMessage.
func (HeldMessage) Annotations() []schema.Annotation {
	return []schema.Annotation{table("held_messages")}
}
