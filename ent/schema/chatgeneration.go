package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/moderato-live/moderato/internal/uid"
)

// ChatGeneration counts how often all messages of a channel were deleted. A message is
// visible while its generation is the sum of the channel's and of its sender's there (see
// MessageGeneration). Both only increase, so incrementing either hides the message for
// good.
type ChatGeneration struct{ ent.Schema }

// Fields of ChatGeneration.
func (ChatGeneration) Fields() []ent.Field {
	return []ent.Field{
		field.Bytes("id").StorageKey("channel_id").GoType(uid.ID{}).SchemaType(uuidColumn).Immutable().Comment("The channel."),
		field.Int64("generation").Comment("The current one; a channel without a row is at 0."),
		timestamp("raised_at", "When it was last raised: the messages until then are deleted."),
		optionalTimestamp("purge_at", "When the purger looks for hidden rows next; null when there can be none."),
	}
}

// Indexes of ChatGeneration: the rows that are due for the purger.
func (ChatGeneration) Indexes() []ent.Index { return []ent.Index{index.Fields("purge_at")} }

// Annotations of ChatGeneration.
func (ChatGeneration) Annotations() []schema.Annotation {
	return []schema.Annotation{table("chat_generations")}
}
