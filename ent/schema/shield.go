package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/moderato-live/moderato/internal/uid"
)

// Shield is what a channel's shield does, and whether it is up. A channel that never had a preset or
// a raised shield has no row.
type Shield struct{ ent.Schema }

// Fields of Shield.
func (Shield) Fields() []ent.Field {
	return []ent.Field{
		field.Bytes("id").StorageKey("channel_id").GoType(uid.ID{}).SchemaType(uuidColumn).Immutable().Comment("The channel."),
		field.Text("preset").SchemaType(map[string]string{dialect.MySQL: "mediumtext"}).
			Comment("What it does while it is up: a ShieldPreset of the contract as JSON, without when it starts by itself."),
		field.Int64("preset_version").Default(0).Comment("The number of changes of the preset."),
		field.Bool("starts_itself").Default(false).Comment("Whether one of the three numbers is set at which it is raised by itself."),
		field.Int64("follows_per_minute").Optional().Nillable().Comment("How many follows raise it; null if they do not matter."),
		field.Int64("first_messages_per_minute").Optional().Nillable().Comment("How many first messages raise it; null if they do not matter."),
		field.Int64("held_per_minute").Optional().Nillable().Comment("How many held messages raise it; null if they do not matter."),
		optionalTimestamp("rests_until", "Until when it is not raised by itself, because a moderator lowered it; null if none did."),
		optionalUUID("started_by", "The moderator who raised it; null if it is down or was raised by itself."),
		emptyText("cause", 16, "Why it was raised, as its event states it; empty if it is down."),
		emptyText("reason", 500, "The reason that was given; may be empty."),
		optionalTimestamp("started_at", "When it was raised; null if it is down."),
		optionalTimestamp("ends_at", "When it ends by itself; null if it is down."),
	}
}

// Indexes of Shield: those that may start by themselves, and for erasures those of a moderator. The
// settings of the channel have the end of a shield, too.
func (Shield) Indexes() []ent.Index {
	return []ent.Index{index.Fields("starts_itself", "id"), index.Fields("started_by")}
}

// Annotations of Shield.
func (Shield) Annotations() []schema.Annotation { return []schema.Annotation{table("shields")} }
