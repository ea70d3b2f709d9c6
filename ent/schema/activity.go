package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Activity is something that happened in a channel, as the owner's dashboard shows it.
type Activity struct{ ent.Schema }

// Fields of Activity.
func (Activity) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The row's id."),
		requiredUUID("channel_id", "The channel."),
		field.Int64("number").Immutable().Comment("The public id of the activity: increases by one in each channel, from 1."),
		text("dedup_key", 64, "The key of the activity, unique in the channel: 1 to 64 characters. A repeated call with the same key changes nothing."),
		field.String("type").MaxLen(16).Comment("The type: follower, subscriber, gift, thanks or vote."),
		optionalUUID("user_id", "The user whose action it is; never null in new rows."),
		field.Text("info").SchemaType(map[string]string{dialect.MySQL: "mediumtext"}).Comment("The details of the activity: a JSON object."),
		field.Text("action").SchemaType(map[string]string{dialect.MySQL: "mediumtext"}).Comment("The action that the dashboard offers: a JSON object, {} if there is none."),
		timestamp("created_at", "When the activity happened."),
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
