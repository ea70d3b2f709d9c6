package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// ChatRuleVersion is a change of the rules of a channel's chat.
type ChatRuleVersion struct{ ent.Schema }

// Fields of ChatRuleVersion.
func (ChatRuleVersion) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The row's id."),
		requiredUUID("channel_id", "The channel."),
		field.Int64("version").Immutable().Comment("The number of the change in the channel: 1 or more."),
		optionalUUID("moderator_id", "The user who made the change; null if it happened by itself."),
		emptyText("client_id", 64, "The client through which it was made; empty if it happened by itself."),
		text("cause", 16, "What caused the change, as its event states it."),
		timestamp("changed_at", "When it was made."),
		field.Text("changes").Immutable().SchemaType(map[string]string{dialect.MySQL: "mediumtext"}).
			Comment("The ids of the rules that were put and deleted: a JSON object."),
	}
}

// Indexes of ChatRuleVersion: the versions of a channel, old ones, and those of a moderator.
func (ChatRuleVersion) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("channel_id", "version").Unique(),
		index.Fields("changed_at"),
		index.Fields("moderator_id", "channel_id"),
	}
}

// Annotations of ChatRuleVersion.
func (ChatRuleVersion) Annotations() []schema.Annotation {
	return []schema.Annotation{table("chat_rule_versions")}
}
