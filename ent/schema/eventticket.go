package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/moderato-live/moderato/internal/digest"
)

// EventTicket opens one event stream without a token. Only its digest is stored.
type EventTicket struct{ ent.Schema }

// Fields of EventTicket.
func (EventTicket) Fields() []ent.Field {
	binary := map[string]string{dialect.MySQL: "binary(32)", dialect.SQLite: "blob"}
	return []ent.Field{
		field.Bytes("id").GoType(digest.SHA256{}).Immutable().SchemaType(binary).Comment("The SHA-256 of the ticket's text."),
		field.Bytes("token_id").GoType(digest.SHA256{}).Immutable().SchemaType(binary).Comment("The token whose rights the stream has."),
		optionalUUID("user_id", "The user for whom a service token acts; null for other tokens."),
		timestamp("expires_at", "From when on it opens no stream."),
		optionalUUID("redeemed_by", "A number that the redemption chose; null until then. By it the redemption knows its own work again."),
	}
}

// Indexes of EventTicket.
func (EventTicket) Indexes() []ent.Index {
	return []ent.Index{index.Fields("user_id"), index.Fields("expires_at")}
}

// Annotations of EventTicket.
func (EventTicket) Annotations() []schema.Annotation {
	return []schema.Annotation{table("event_tickets")}
}
