package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
)

// EventSink holds the position up to which the events were published to a bus. It is a
// lease: the holder checks its epoch whenever it moves the position.
type EventSink struct{ ent.Schema }

// Fields of EventSink.
func (EventSink) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").MaxLen(64).Immutable().Comment("The bus: nats."),
		field.Int64("epoch").Comment("Counts up with each holder."),
		timestamp("expires_at", "Until when the holder has it."),
		field.Int64("position").Comment("Every event up to this one was published."),
	}
}

// Annotations of EventSink.
func (EventSink) Annotations() []schema.Annotation { return []schema.Annotation{table("event_sinks")} }
