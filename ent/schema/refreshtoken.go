package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// RefreshToken is a refresh token. Only its digest is stored.
type RefreshToken struct{ ent.Schema }

// Fields of RefreshToken.
func (RefreshToken) Fields() []ent.Field {
	return []ent.Field{
		requiredDigest("id", "The SHA-256 of the token's text."),
		requiredUUID("family_id", "All tokens that came of one approval."),
		field.String("client_id").MaxLen(64).Immutable().Comment("The client to which it was issued."),
		requiredUUID("user_id", "The user who approved."),
		field.String("scopes").MaxLen(255).Immutable().Comment("Separated by spaces."),
		timestamp("issued_at", "When it was issued."),
		timestamp("expires_at", "Until when it can be used."),
		optionalTimestamp("replaced_at", "When it was used first, and so replaced; null while it was not. A successor that was replaced counts as used refreshGrace before."),
		optionalDigest("earlier_successor", "The token that replaced it, if two that can be used did."),
		optionalDigest("latest_successor", "The last token that replaced it."),
	}
}

// Indexes of RefreshToken.
func (RefreshToken) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("family_id"), index.Fields("user_id"), index.Fields("client_id", "user_id"), index.Fields("expires_at"),
	}
}

// Annotations of RefreshToken.
func (RefreshToken) Annotations() []schema.Annotation {
	return []schema.Annotation{table("refresh_tokens")}
}
