package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/moderato-live/moderato/internal/uid"
)

// ChatSettings are the settings of a channel's chat. A channel whose settings never changed has
// no row.
type ChatSettings struct{ ent.Schema }

// Fields of ChatSettings.
func (ChatSettings) Fields() []ent.Field {
	return []ent.Field{
		field.Bytes("id").StorageKey("channel_id").GoType(uid.ID{}).SchemaType(uuidColumn).Immutable().Comment("The channel."),
		field.Int64("version").Comment("The number of changes."),
		field.Text("settings").SchemaType(map[string]string{dialect.MySQL: "mediumtext"}).
			Comment("The values that were set, those that are set for a time, the settings of a raised shield, and what identifies the rules: a JSON object."),
		field.Int64("rules_version").Default(0).Comment("The number of changes of the rules."),
		field.Bool("has_checks").Comment("Whether a mode or a rule may refuse posts, now, when a value that is set for a time ends, or while the shield is up."),
		optionalTimestamp("ends_at", "When the first value ends that is set for a time; null if there is none."),
		timestamp("changed_at", "When the row was changed."),
	}
}

// Indexes of ChatSettings: what ends, and what chat servers are told of.
func (ChatSettings) Indexes() []ent.Index {
	return []ent.Index{index.Fields("ends_at"), index.Fields("has_checks", "id"), index.Fields("changed_at")}
}

// Annotations of ChatSettings.
func (ChatSettings) Annotations() []schema.Annotation {
	return []schema.Annotation{table("chat_settings")}
}
