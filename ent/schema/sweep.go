package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Sweep is a preview of a sweep, or a sweep that was committed. The users who remain to be
// banned are those of SweepChunk.
type Sweep struct{ ent.Schema }

// Fields of Sweep.
func (Sweep) Fields() []ent.Field {
	return []ent.Field{
		requiredDigest("id", "The SHA-256 of the sweep's token."),
		requiredUUID("channel_id", "The channel."),
		requiredUUID("user_id", "The user who previewed it."),
		emptyText("phrase", 500, "The phrase of the messages; empty if there is none."),
		emptyText("pattern", 500, "The pattern of the messages; empty if there is none."),
		field.Int64("exempt_follow_age").Comment("The age of the follows that exempt, in milliseconds."),
		field.Bool("exempt_subscribers").Comment("Whether subscribers are exempt."),
		timestamp("expires_at", "From when on it cannot be committed."),
		optionalUUID("batch_id", "The batch of its bans; null until it is committed."),
		optionalUUID("moderator_id", "The user who committed it; null until then."),
		emptyText("client_id", 64, "The client with which it was committed; empty until then."),
		field.Bool("needs_grant").Default(false).Comment("Whether the user had granted the client its scopes at the commit, so that the sweep ends with the grant."),
		emptyText("reason", 500, "Why the users are banned; may be empty."),
		optionalTimestamp("bans_expire_at", "When a ban that is made at the commit ends, exclusive; a later ban lasts as long from its beginning. Null if bans last until they are removed."),
		optionalTimestamp("afterglow_until", "Until when posts that match are refused; null if they are not."),
		field.Int("banned_count").Default(0).Comment("How many users it banned so far, without the afterglow."),
		field.Int("already_banned_count").Default(0).Comment("How many users had been banned when it came to them."),
		field.Int("extended_count").Default(0).Comment("How many users had been banned for a shorter time when it came to them."),
		field.Int("not_found_count").Default(0).Comment("How many users no longer existed when it came to them."),
		optionalTimestamp("due_at", "From when on any server continues it; null unless it is being committed."),
		optionalTimestamp("ended_at", "When an undo, a revert or the loss of its author's rights ended it while it was being committed; null if none did."),
		optionalTimestamp("remove_at", "When the row is removed; null while it is being committed."),
	}
}

// Indexes of Sweep: the sweeps to continue, those with an afterglow, those to remove, that
// of a batch, and those of a user or channel who is erased.
func (Sweep) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("due_at"),
		index.Fields("afterglow_until"),
		index.Fields("remove_at"),
		index.Fields("batch_id"),
		index.Fields("channel_id"),
		index.Fields("user_id"),
		index.Fields("moderator_id"),
	}
}

// Annotations of Sweep.
func (Sweep) Annotations() []schema.Annotation { return []schema.Annotation{table("sweeps")} }
