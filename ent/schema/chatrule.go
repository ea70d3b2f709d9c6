package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/moderato-live/moderato/internal/uid"
)

// ChatRule is a rule of a channel's chat as it is from one version of the rules until another. The
// row that no version ended is the present one.
type ChatRule struct{ ent.Schema }

// Fields of ChatRule.
func (ChatRule) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The row's id."),
		requiredUUID("channel_id", "The channel."),
		requiredUUID("rule_id", "The rule, which has a row for each change."),
		field.Int64("since_version").Immutable().Comment("The version with which the row begins."),
		field.Int64("until_version").Optional().Nillable().Comment("The first version without the row; null if there is none."),
		field.Text("rule").Immutable().SchemaType(map[string]string{dialect.MySQL: "mediumtext"}).
			Comment("What it does: a ChatRule of the contract as JSON, without its id."),
		field.Bytes("editor_id").GoType(uid.ID{}).SchemaType(uuidColumn).Comment("The user who made the change, or the owner since that user lost the right."),
		optionalTimestamp("expires_at", "When the rule is deleted; null if it stays, and in rows that a version ended."),
		optionalTimestamp("ended_at", "When the row ended; null if it is a present one."),
	}
}

// Indexes of ChatRule: those of a channel's versions, those that expire, old ones, and those of an
// editor.
func (ChatRule) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("channel_id", "until_version", "rule_id"),
		index.Fields("expires_at"),
		index.Fields("ended_at"),
		index.Fields("editor_id", "channel_id"),
	}
}

// Annotations of ChatRule.
func (ChatRule) Annotations() []schema.Annotation { return []schema.Annotation{table("chat_rules")} }
