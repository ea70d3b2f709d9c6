package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Authorization is a request of a client to act for a user, and what became of it.
type Authorization struct{ ent.Schema }

// Fields of Authorization.
func (Authorization) Fields() []ent.Field {
	return []ent.Field{
		requiredDigest("id", "The SHA-256 of the request's id; for a device, of its user code."),
		field.Bytes("secret").MaxLen(32).Immutable().Sensitive().SchemaType(digestColumn).
			Comment("What makes the code, together with the request's id."),
		field.String("client_id").MaxLen(64).Immutable().Comment("The client that asks."),
		field.String("status").MaxLen(16).Comment("pending, approved, denied or redeemed."),
		field.String("scopes").MaxLen(255).Immutable().Comment("The requested scopes, separated by spaces."),
		emptyText("issuer", 512, "The server's own URL, as the client called it."),
		emptyText("redirect_uri", 2048, "Where the browser goes; empty for a device."),
		emptyText("state", 2048, "The client's state, which is returned to it."),
		field.String("code_challenge").MaxLen(64).Default("").Immutable().Comment("The S256 challenge of PKCE; empty for a device."),
		optionalDigest("code", "The SHA-256 of the code with which the client redeems; for a device, of its device code. Null while there is none."),
		optionalTimestamp("code_expires_at", "When the code expires; null while there is none."),
		optionalUUID("user_id", "The user who approved; null if nobody did."),
		field.String("granted").MaxLen(255).Default("").Comment("The approved scopes, separated by spaces."),
		optionalUUID("family_id", "The tokens for which the code was redeemed; null if it was not."),
		field.Bool("is_device").Immutable().Comment("Whether a device asks."),
		field.Int64("poll_interval").Default(0).Comment("How long a device waits between two attempts, in milliseconds."),
		optionalTimestamp("polled_at", "The latest attempt of a device; null if there was none."),
		timestamp("created_at", "When the client asked."),
		timestamp("expires_at", "Until when the request can be decided."),
		timestamp("kept_until", "When the row is removed."),
	}
}

// Indexes of Authorization.
func (Authorization) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("code").Unique(), index.Fields("user_id"), index.Fields("client_id"), index.Fields("kept_until"),
	}
}

// Annotations of Authorization.
func (Authorization) Annotations() []schema.Annotation {
	return []schema.Annotation{table("authorizations")}
}
