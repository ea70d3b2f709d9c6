package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/moderato-live/moderato/internal/digest"
)

// Token is an access token. Only its digest is stored.
type Token struct{ ent.Schema }

// Fields of Token.
func (Token) Fields() []ent.Field {
	return []ent.Field{
		field.Bytes("id").GoType(digest.SHA256{}).Immutable().
			SchemaType(map[string]string{dialect.MySQL: "binary(32)", dialect.SQLite: "blob"}).
			Comment("The SHA-256 of the token's text."),
		field.String("kind").MaxLen(16).Immutable().Comment("The kind: user, app or service."),
		field.String("client_id").MaxLen(64).Immutable().Comment("The client to which the token was issued."),
		optionalUUID("user_id", "The user of a user token; null for other kinds."),
		field.String("scopes").MaxLen(255).Immutable().Comment("The scopes, separated by spaces."),
		timestamp("issued_at", "When the token was issued."),
		optionalTimestamp("expires_at", "When the token expires, exclusive; null if it does not expire."),
		optionalUUID("family_id", "Identifies all tokens that result from one approval; null if the token results from none."),
		optionalTimestamp("revoked_at", "When the token was revoked; null if it was not."),
	}
}

// Indexes of Token.
func (Token) Indexes() []ent.Index {
	return []ent.Index{index.Fields("user_id"), index.Fields("client_id"), index.Fields("expires_at"), index.Fields("family_id")}
}

// Annotations of Token.
func (Token) Annotations() []schema.Annotation { return []schema.Annotation{table("tokens")} }
