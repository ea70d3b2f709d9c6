package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
)

// EventSink holds the position up to which the events were published to a bus. It is a
// lease: the holder checks its epoch whenever it advances the position.
type EventSink struct{ ent.Schema }

// Fields of EventSink.
func (EventSink) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").MaxLen(64).Immutable().Comment("The name of the bus: nats."),
		field.Int64("epoch").Comment("Increases by one with each holder."),
		timestamp("expires_at", "When the lease expires unless the holder renews it."),
		field.Int64("position").Comment("The position up to which every event was published; 0 before the first."),
	}
}

// Annotations of EventSink.
func (EventSink) Annotations() []schema.Annotation { return []schema.Annotation{table("event_sinks")} }
