package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/moderato-live/moderato/internal/uid"
)

// PinnedMessage is the message that a channel shows above its chat.
type PinnedMessage struct{ ent.Schema }

// Fields of PinnedMessage.
func (PinnedMessage) Fields() []ent.Field {
	return []ent.Field{
		field.Bytes("id").StorageKey("channel_id").GoType(uid.ID{}).SchemaType(uuidColumn).Immutable().Comment("The channel."),
		field.Bytes("message_id").GoType(uid.ID{}).SchemaType(uuidColumn).Comment("The message."),
		field.Bytes("user_id").GoType(uid.ID{}).SchemaType(uuidColumn).Comment("The sender of the message."),
	}
}

// Indexes of PinnedMessage: what an erasure of the sender removes.
func (PinnedMessage) Indexes() []ent.Index { return []ent.Index{index.Fields("user_id")} }

// Annotations of PinnedMessage.
func (PinnedMessage) Annotations() []schema.Annotation {
	return []schema.Annotation{table("pinned_messages")}
}
