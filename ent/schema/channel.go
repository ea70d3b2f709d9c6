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
		requiredUUID("id", "The id of the channel's owner."),
		text("title", 140, "What the channel is called at present."),
		text("bio", 300, "What the owner says of it; may be empty."),
		text("lang", 35, "A BCP 47 tag in canonical form."),
		field.Int64("category_id").Default(0).Comment("0 is Uncategorized."),
		field.Int64("event_sequence").Default(0).Comment("The sequence of the channel's latest event; counts up by one."),
		field.Int64("trimmed_sequence").Default(0).Comment("At or below it events may have been removed by retention."),
		field.Int64("activity_number").Default(0).Comment("The number of the channel's latest activity; counts up by one."),
		field.Int64("follower_count").Default(0).Comment("How many follow the channel."),
		field.Int64("subscriber_count").Default(0).Comment("How many subscriptions are marked active: the lapsed among them are still to be taken off."),
		field.Int64("clip_count").Default(0).Comment("How many clips the channel has."),
		field.Int64("vod_count").Default(0).Comment("How many VODs the channel has."),
		field.Bool("is_live").Default(false).Comment("Whether a stream is live; the rest of it is in the next fields."),
		field.Int64("viewer_count").Default(0).Comment("How many watch; 0 when not live."),
		optionalTimestamp("live_started_at", "When the live stream started; null when not live."),
		emptyText("preview_img_url", 2048, "A picture of the live stream; empty when not live."),
		field.Int64("new_follower_count").Default(0).Comment("How many of the present followers came since the start; 0 when not live."),
		field.Int64("new_subscriber_count").Default(0).Comment("How many of the subscriptions that are marked active began since the start; 0 when not live."),
		timestamp("created_at", "When the row was first put."),
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
