package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
)

// Application is a client: a program that calls Moderato. Its name in Go is not
// Client, because ent has a type of that name.
type Application struct{ ent.Schema }

// Fields of Application.
func (Application) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").MaxLen(64).Immutable().Comment("The client id: 1 to 64 characters. Callers send it in the header client-id."),
		text("name", 140, "The display name: 1 to 140 characters."),
		field.Bool("service").Comment("Whether the client is one of the platform's own backends, which may hold service tokens."),
		timestamp("created_at", "When the row was inserted."),
		emptyText("redirect_uris", 4096, "The URIs to which a sign-in may send the browser, separated by spaces."),
		field.String("scopes").MaxLen(255).Default("").Comment("The scopes that the client may request, separated by spaces."),
		field.Bool("public").Default(false).Comment("Whether the client cannot keep a secret."),
		optionalDigest("secret", "The SHA-256 of the client secret; null if there is none."),
		optionalDigest("previous_secret", "The SHA-256 of the secret before the last rotation; null if there is none."),
		optionalTimestamp("previous_secret_until", "When the previous secret ends, exclusive; null if there is none."),
	}
}

// Annotations of Application.
func (Application) Annotations() []schema.Annotation { return []schema.Annotation{table("clients")} }
