package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// ChannelMetric is what one server counted in a channel during an interval. The counts of a row
// only grow, and other servers have rows of their own.
type ChannelMetric struct{ ent.Schema }

// Fields of ChannelMetric.
func (ChannelMetric) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The counter of the server."),
		requiredUUID("channel_id", "The channel."),
		field.Int64("seconds").Immutable().Comment("The length of the interval: 5 or 60."),
		timestamp("started_at", "The start of the interval: a multiple of its length."),
		field.Int64("messages").Comment("The messages that were posted, deleted or not."),
		field.Int64("first_messages").Comment("Those of them whose sender had not posted in the channel for 30 days."),
		field.Int64("follows").Comment("The follows that began."),
		field.Int64("bans").Comment("The bans that were made."),
		field.Int64("mutes").Comment("The mutes that were made."),
		field.Int64("held").Comment("The messages that were held."),
		field.Int64("viewers").Optional().Nillable().Comment("The highest number of viewers that was reported; null if none was."),
	}
}

// Indexes of ChannelMetric: the rows of a read, with all that it reads, and the rows to remove.
func (ChannelMetric) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("channel_id", "seconds", "started_at", "messages", "first_messages", "follows", "bans", "mutes", "held", "viewers").
			StorageKey("channelmetric_channel_id_seconds_started_at"),
		index.Fields("started_at"),
	}
}

// Annotations of ChannelMetric.
func (ChannelMetric) Annotations() []schema.Annotation {
	return []schema.Annotation{table("channel_metrics")}
}
