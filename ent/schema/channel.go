package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Channel is a user's channel. Its row is the channel's serialization point:
// every change that emits an event locks it first.
type Channel struct{ ent.Schema }

// Fields of Channel.
func (Channel) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The user id of the channel's owner."),
		text("title", 140, "The title: 1 to 140 characters."),
		text("bio", 300, "The owner's description of the channel: up to 300 characters; may be empty."),
		text("lang", 35, "The language: a BCP 47 tag in canonical form."),
		field.Int64("category_id").Default(0).Comment("The category; 0 is Uncategorized."),
		field.Int64("event_sequence").Default(0).Comment("The sequence of the channel's latest event; 0 before the first. Increases by one with each event."),
		field.Int64("trimmed_sequence").Default(0).Comment("Retention may have removed events with this sequence or a lower one."),
		field.Int64("activity_number").Default(0).Comment("The number of the channel's latest activity; 0 before the first. Increases by one with each activity."),
		field.Int64("follower_count").Default(0).Comment("The number of followers."),
		field.Int64("subscriber_count").Default(0).Comment("The number of subscriptions with is_active set. Includes subscriptions that have ended, until the sweeper clears is_active."),
		field.Int64("clip_count").Default(0).Comment("The number of clips."),
		field.Int64("vod_count").Default(0).Comment("The number of VODs."),
		field.Bool("is_live").Default(false).Comment("Whether a stream is live. The next fields describe the live stream."),
		field.Int64("viewer_count").Default(0).Comment("The number of viewers; 0 when not live."),
		optionalTimestamp("live_started_at", "When the live stream started; null when not live."),
		emptyText("preview_img_url", 2048, "The URL of a preview picture of the live stream; may be empty, and is empty when not live."),
		field.Int64("new_follower_count").Default(0).Comment("The number of current followers who followed since the live stream started; 0 when not live."),
		field.Int64("new_subscriber_count").Default(0).Comment("The number of subscriptions with is_active set that began since the live stream started; 0 when not live."),
		field.Int64("tier").Default(0).Comment("The tier that the platform gave the channel: 0 or more."),
		timestamp("created_at", "When the row was inserted."),
	}
}

// Edges of Channel: the users who have a relation to it.
func (Channel) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("followers", User.Type).Through("follows", Follow.Type),
		edge.To("subscribers", User.Type).Through("subscriptions", Subscription.Type),
		edge.To("banned_users", User.Type).Through("bans", Ban.Type),
		edge.To("muted_users", User.Type).Through("mutes", Mute.Type),
		edge.To("cleared_users", User.Type).Through("message_generations", MessageGeneration.Type),
		edge.To("chatting_users", User.Type).Through("chatters", Chatter.Type),
		edge.To("former_users", User.Type).Through("first_messages", FirstMessage.Type),
	}
}

// Indexes of Channel: the lists of channels, of all categories and of one category. Both
// are read backward: live channels first, then by viewers, then by id.
func (Channel) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("is_live", "viewer_count", "id"),
		index.Fields("category_id", "is_live", "viewer_count", "id"),
	}
}

// Annotations of Channel.
func (Channel) Annotations() []schema.Annotation { return []schema.Annotation{table("channels")} }
