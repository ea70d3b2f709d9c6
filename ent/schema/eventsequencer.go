package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
)

// EventSequencer is the lease of the server that gives events their positions. It has a
// single row. The holder checks its epoch in every transaction, so that a server that
// lost the lease writes nothing.
type EventSequencer struct{ ent.Schema }

// Fields of EventSequencer.
func (EventSequencer) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id").Annotations(entsql.Annotation{Incremental: new(bool)}).Comment("Always 1."),
		field.Int64("epoch").Comment("Counts up with each holder."),
		timestamp("expires_at", "Until when the holder has it."),
		field.Int64("last_position").Comment("The position that was given last; counts up by one."),
		field.Int64("trimmed_position").Comment("The highest position whose event retention removed: a cursor before it may miss some."),
		field.Int64("rewrites").Default(0).Comment("How often events that have positions were changed, or removed before their time: what was read before is outdated."),
	}
}

// Annotations of EventSequencer.
func (EventSequencer) Annotations() []schema.Annotation {
	return []schema.Annotation{table("event_sequencers")}
}
