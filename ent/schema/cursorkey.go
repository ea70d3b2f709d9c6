package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
)

// CursorKey is a key for cursors. The newest key seals cursors; all keys open them.
type CursorKey struct{ ent.Schema }

// Fields of CursorKey.
func (CursorKey) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id").Annotations(entsql.Annotation{Incremental: new(bool)}).Comment("The key's number, which each cursor contains. A new key has the next number."),
		field.Bytes("secret").MaxLen(32).Immutable().Sensitive().
			SchemaType(map[string]string{dialect.MySQL: "binary(32)", dialect.SQLite: "blob"}).
			Comment("The secret from which the key is derived: 32 bytes."),
		timestamp("created_at", "When the key was created."),
	}
}

// Annotations of CursorKey.
func (CursorKey) Annotations() []schema.Annotation { return []schema.Annotation{table("cursor_keys")} }
