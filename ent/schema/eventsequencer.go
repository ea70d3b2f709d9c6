package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
)

// EventSequencer is the lease of the server that assigns positions to events. It has a
// single row. The holder checks its epoch in every transaction, so that a server that
// lost the lease writes nothing.
type EventSequencer struct{ ent.Schema }

// Fields of EventSequencer.
func (EventSequencer) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id").Annotations(entsql.Annotation{Incremental: new(bool)}).Comment("Always 1."),
		field.Int64("epoch").Comment("Increases by one with each holder."),
		timestamp("expires_at", "When the lease expires unless the holder renews it."),
		field.Int64("last_position").Comment("The position that was assigned last; 0 before the first."),
		field.Int64("trimmed_position").Comment("The highest position of an event that retention removed. Events after a lower cursor may be missing."),
		field.Int64("rewrites").Default(0).Comment("Increases by one when an erasure changes or removes events with positions. Events that a server read before are then outdated."),
		field.Int64("imports").Default(0).Comment("Increases by one when an import changes bans, mutes or roles, of which no event tells."),
	}
}

// Annotations of EventSequencer.
func (EventSequencer) Annotations() []schema.Annotation {
	return []schema.Annotation{table("event_sequencers")}
}
