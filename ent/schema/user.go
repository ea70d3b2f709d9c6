package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// User is a user with an account on the platform.
type User struct{ ent.Schema }

// Fields of User.
func (User) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The user's id, and the id of their channel if they have one."),
		text("username", 40, "The username as the user wrote it: 1 to 40 characters."),
		text("slug", 40, "The username in lower case. Its unique index makes usernames unique ignoring case, on every store."),
		text("display_name", 140, "The display name: 1 to 140 characters."),
		text("avatar_url", 2048, "The URL of the avatar picture; may be empty."),
		timestamp("created_at", "When the row was inserted."),
		optionalTimestamp("account_created_at", "When the account was created on the platform; null if it is not known."),
		optionalTimestamp("deleted_at", "When the deletion was requested; null otherwise. No lookup finds a deleted user. The row is removed after all rows that refer to it."),
		field.Int64("rights_version").Default(0).Comment("Increases in every transaction that changes which channels the user owns or moderates."),
	}
}

// Indexes of User.
func (User) Indexes() []ent.Index {
	return []ent.Index{index.Fields("slug").Unique()}
}

// Annotations of User.
func (User) Annotations() []schema.Annotation { return []schema.Annotation{table("users")} }

// Edges of User: the inverse edges of Channel.
func (User) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("followed_channels", Channel.Type).Ref("followers").Through("follows", Follow.Type),
		edge.From("subscribed_channels", Channel.Type).Ref("subscribers").Through("subscriptions", Subscription.Type),
		edge.From("banned_channels", Channel.Type).Ref("banned_users").Through("bans", Ban.Type),
		edge.From("muted_channels", Channel.Type).Ref("muted_users").Through("mutes", Mute.Type),
		edge.From("cleared_channels", Channel.Type).Ref("cleared_users").Through("message_generations", MessageGeneration.Type),
		edge.From("chatting_channels", Channel.Type).Ref("chatting_users").Through("chatters", Chatter.Type),
		edge.From("former_channels", Channel.Type).Ref("former_users").Through("first_messages", FirstMessage.Type),
	}
}
