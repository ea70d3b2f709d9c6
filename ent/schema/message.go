package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Message is a chat message. It is visible while its generation is the sum of the current
// generations of its sender in the channel (see MessageGeneration) and of the channel (see
// ChatGeneration). The generation of a message that was deleted alone is -1.
type Message struct{ ent.Schema }

// Fields of Message.
func (Message) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The message's id."),
		requiredUUID("channel_id", "The channel."),
		requiredUUID("user_id", "The sender."),
		field.Int64("generation").Comment("The sum of the generations of the channel and of the sender in it, read together with the sender's standing."),
		text("text", 500, "The text: 1 to 500 characters."),
		timestamp("sent_at", "When the message was posted."),
		optionalUUID("reply_to_message_id", "The message that it replies to; null if it is no reply. That message may be deleted since."),
		field.Bool("is_bot").Default(false).Comment("Whether a program posted the message."),
	}
}

// Indexes of Message: a channel's messages by time, and the purger's batches.
func (Message) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("channel_id", "sent_at", "id"),
		// The user is first, so that the index also finds all messages of a user who is
		// erased. It ends with the order of the list of a user's visible messages.
		index.Fields("user_id", "channel_id", "generation", "sent_at", "id"),
	}
}

// Annotations of Message.
func (Message) Annotations() []schema.Annotation { return []schema.Annotation{table("messages")} }
