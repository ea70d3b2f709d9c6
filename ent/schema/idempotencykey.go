package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// IdempotencyKey is the response to a change that was requested with an idempotency key.
// The key itself is not stored.
type IdempotencyKey struct{ ent.Schema }

// Fields of IdempotencyKey.
func (IdempotencyKey) Fields() []ent.Field {
	return []ent.Field{
		requiredDigest("id", "Derived from the key, the client, the user and the operation."),
		optionalUUID("user_id", "The user for whom the caller acted; null if there was none."),
		requiredDigest("request", "The HMAC-SHA-256 of the request, under a secret that is derived like the id."),
		field.Bytes("response").SchemaType(map[string]string{dialect.MySQL: "mediumblob", dialect.SQLite: "blob"}).
			Comment("The response, encrypted with a secret that is derived like the id. One byte if the change was begun and its response is still to come."),
		timestamp("created_at", "When the change was requested."),
	}
}

// Indexes of IdempotencyKey: the rows of a user, and the rows that are old.
func (IdempotencyKey) Indexes() []ent.Index {
	return []ent.Index{index.Fields("user_id"), index.Fields("created_at")}
}

// Annotations of IdempotencyKey.
func (IdempotencyKey) Annotations() []schema.Annotation {
	return []schema.Annotation{table("idempotency_keys")}
}
