package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Grant holds the scopes that a user granted to a client.
type Grant struct{ ent.Schema }

// Fields of Grant.
func (Grant) Fields() []ent.Field {
	return []ent.Field{
		requiredUUID("id", "The row's id."),
		field.String("client_id").MaxLen(64).Immutable().Comment("The client that may act for the user."),
		requiredUUID("user_id", "The user who granted the scopes."),
		field.String("scopes").MaxLen(255).Comment("The granted scopes, separated by spaces."),
	}
}

// Indexes of Grant.
func (Grant) Indexes() []ent.Index {
	return []ent.Index{index.Fields("client_id", "user_id").Unique(), index.Fields("user_id")}
}

// Annotations of Grant.
func (Grant) Annotations() []schema.Annotation { return []schema.Annotation{table("grants")} }
