package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
)

// Retention is the lease of the server that removes what is older than it is kept: the row events
// is for events, and the row messages for messages. Messages are removed in rounds, each of which
// visits every channel. The rounds of events have no state.
type Retention struct{ ent.Schema }

// Fields of Retention.
func (Retention) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").MaxLen(64).Immutable().Comment("What is removed: events or messages."),
		field.Int64("epoch").Comment("Increases by one with each holder."),
		timestamp("expires_at", "When the lease expires unless the holder renews it."),
		timestamp("done_before", "The last complete round removed the messages that were sent before this time; 0 before the first."),
		timestamp("round_before", "The same for the present round; equal to done_before if there is none."),
		optionalUUID("round_after", "The channel that the present round visited last; null at its start."),
	}
}

// Annotations of Retention.
func (Retention) Annotations() []schema.Annotation { return []schema.Annotation{table("retentions")} }
