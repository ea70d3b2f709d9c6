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
		field.Int64("epoch").Comment("The week number, which the caller chooses: 0 or more."),
		optionalUUID("user_id", "The voter; null if no user had the username."),
		text("username", 40, "The voter's username at the time of the vote."),
		text("address", 140, "The address from which the user voted: up to 140 characters; may be empty."),
		field.Int64("amount").Comment("The number of votes: 1 or more."),
		timestamp("voted_at", "When the vote was cast."),
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
