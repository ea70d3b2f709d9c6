package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/moderato-live/moderato/internal/uid"
)

// UniqueText is a text that was posted in a channel that takes no text twice for a time.
type UniqueText struct{ ent.Schema }

// Fields of UniqueText.
func (UniqueText) Fields() []ent.Field {
	return []ent.Field{
		requiredDigest("id", "The SHA-256 of the channel and the folded text."),
		requiredUUID("channel_id", "The channel."),
		field.Bytes("message_id").GoType(uid.ID{}).SchemaType(uuidColumn).Comment("The latest message with the text."),
		timestamp("sent_at", "When that message was posted."),
	}
}

// Indexes of UniqueText: what is removed, also with a channel.
func (UniqueText) Indexes() []ent.Index {
	return []ent.Index{index.Fields("sent_at"), index.Fields("channel_id")}
}

// Annotations of UniqueText.
func (UniqueText) Annotations() []schema.Annotation {
	return []schema.Annotation{table("unique_texts")}
}
