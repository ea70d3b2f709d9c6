package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Subscription is the current or last period of a user's subscription to a channel. It is
// active while is_active is set and now < expires_at. The sweeper clears is_active when
// the period has lapsed.
type Subscription struct{ ent.Schema }

// Fields of Subscription.
func (Subscription) Fields() []ent.Field {
	return append(inChannel(),
		timestamp("subscribed_at", "When the current period began."),
		timestamp("expires_at", "When the subscription ends or ended, exclusive."),
		field.Int64("renew_count").Comment("The number of renewals: 0 to 9007199254740991."),
		field.Int64("streak_count").Comment("The number of consecutive periods: 0 or more."),
		field.Bool("is_active").Comment("Whether the subscriber count in the channel's row includes this subscription."),
	)
}

// Edges of Subscription.
func (Subscription) Edges() []ent.Edge { return inChannelEdges() }

// Indexes of Subscription: the subscribers of a channel, the lapsed subscriptions of a
// channel, the lapsed subscriptions for the sweeper, and the subscriptions of a user.
func (Subscription) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("channel_id", "is_active", "subscribed_at", "user_id"),
		index.Fields("channel_id", "is_active", "expires_at"),
		index.Fields("is_active", "expires_at"),
		index.Fields("user_id"),
	}
}

// Annotations of Subscription.
func (Subscription) Annotations() []schema.Annotation {
	return []schema.Annotation{table("subscriptions"), field.ID("channel_id", "user_id")}
}
