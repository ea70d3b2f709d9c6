package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Message is a chat message. It is visible while its generation is the current generation
// of its sender in the channel (see MessageGeneration).
type Message struct{ ent.Schema }

// Fields of Message.
func (Message) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The message's id."),
		requiredUUID("channel_id", "The channel."),
		requiredUUID("user_id", "The sender."),
		field.Int64("generation").Comment("The sender's generation in the channel, read together with the sender's standing."),
		text("text", 500, "The text: 1 to 500 characters."),
		timestamp("sent_at", "When the message was posted."),
	}
}

// Indexes of Message: a channel's messages by time, and the purger's batches.
func (Message) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("channel_id", "sent_at", "id"),
		// The user is first, so that the index also finds all messages of a user who is
		// erased.
		index.Fields("user_id", "channel_id", "generation"),
	}
}

// Annotations of Message.
func (Message) Annotations() []schema.Annotation { return []schema.Annotation{table("messages")} }
