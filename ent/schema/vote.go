package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Vote is a vote for a channel.
type Vote struct{ ent.Schema }

// Fields of Vote.
func (Vote) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The vote's id."),
		requiredUUID("channel_id", "The channel."),
		field.Int64("epoch").Comment("The week number that the writer gave."),
		optionalUUID("user_id", "The voter; null when no user had the username."),
		text("username", 40, "The voter's username at that time."),
		text("address", 140, "From where they voted; may be empty."),
		field.Int64("amount").Comment("How many whole votes."),
		timestamp("voted_at", "When."),
	}
}

// Indexes of Vote: the lists of all weeks and of one week, and the votes of a user or
// username.
func (Vote) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("channel_id", "voted_at", "id"),
		index.Fields("channel_id", "epoch", "voted_at", "id"),
		index.Fields("user_id"),
		index.Fields("username"),
	}
}

// Annotations of Vote.
func (Vote) Annotations() []schema.Annotation { return []schema.Annotation{table("votes")} }
