package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// BanBatch is a batch of bans, which one call applied together and one call can undo. The
// users whom it banned are those of its events.
type BanBatch struct{ ent.Schema }

// Fields of BanBatch.
func (BanBatch) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The batch's id."),
		requiredUUID("channel_id", "The channel."),
		requiredUUID("moderator_id", "The user who applied the bans."),
		timestamp("created_at", "When the bans were applied."),
		emptyText("reason", 500, "Why the users are banned; may be empty."),
		optionalTimestamp("expires_at", "When the bans end, exclusive; null if they last until they are removed."),
		field.Int("banned_count").Comment("How many users the batch banned."),
		field.Int64("first_sequence").Comment("The sequence of the batch's first event."),
		field.Int64("last_sequence").Comment("The sequence of the batch's last event."),
	}
}

// Indexes of BanBatch: the list of a channel's batches, the erasure of a user, and the old
// batches.
func (BanBatch) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("channel_id", "created_at", "id"),
		index.Fields("moderator_id"),
		index.Fields("created_at"),
	}
}

// Annotations of BanBatch.
func (BanBatch) Annotations() []schema.Annotation { return []schema.Annotation{table("ban_batches")} }
