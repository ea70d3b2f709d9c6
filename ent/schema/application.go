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
		field.String("id").MaxLen(64).Immutable().Comment("What callers send as client-id."),
		text("name", 140, "The name shown to people."),
		field.Bool("service").Comment("Whether it is one of the platform's own backends."),
		timestamp("created_at", "When the row was first put."),
		emptyText("redirect_uris", 4096, "Where a sign-in may send browsers, separated by spaces."),
		field.String("scopes").MaxLen(255).Default("").Comment("The scopes that it may ask for, separated by spaces."),
		field.Bool("public").Default(false).Comment("Whether it cannot keep a secret."),
		optionalDigest("secret", "The SHA-256 of its secret; null if it has none."),
	}
}

// Annotations of Application.
func (Application) Annotations() []schema.Annotation { return []schema.Annotation{table("clients")} }
