package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Activity is something that happened in a channel, as its owner sees it.
type Activity struct{ ent.Schema }

// Fields of Activity.
func (Activity) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The row's id."),
		requiredUUID("channel_id", "The channel."),
		field.Int64("number").Immutable().Comment("The id that is told: counts up in the channel."),
		text("dedup_key", 64, "What makes it unique in the channel, so that a repeat changes nothing."),
		field.String("type").MaxLen(16).Comment("follower, subscriber, gift, thanks or vote."),
		optionalUUID("user_id", "Whom it is about."),
		field.Text("info").SchemaType(map[string]string{dialect.MySQL: "mediumtext"}).Comment("Who and what, in JSON."),
		field.Text("action").SchemaType(map[string]string{dialect.MySQL: "mediumtext"}).Comment("What is offered to do about it, in JSON."),
		timestamp("created_at", "When it happened."),
	}
}

// Indexes of Activity: the unique key, the lists of all types and of one type, and the
// activities about a user.
func (Activity) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("channel_id", "dedup_key").Unique(),
		index.Fields("channel_id", "created_at", "number"),
		index.Fields("channel_id", "type", "created_at", "number"),
		index.Fields("user_id"),
	}
}

// Annotations of Activity.
func (Activity) Annotations() []schema.Annotation { return []schema.Annotation{table("activities")} }
