// Package schema defines the tables, one entity per file. The SQL that creates them is in
// ent/migrations. CONTRIBUTING describes how to change both.
package schema

import (
	"fmt"

	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"

	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
)

// table returns the annotation that names the table. It also makes every store compare
// text byte by byte. A text that is compared ignoring case is also stored in lower case.
func table(name string) schema.Annotation {
	return entsql.Annotation{Table: name, Charset: "utf8mb4", Collation: "utf8mb4_bin"}
}

var uuidColumn = map[string]string{dialect.MySQL: "binary(16)", dialect.SQLite: "blob"}

// requiredUUID returns a field for a UUID that is never null and that ent cannot update.
func requiredUUID(name, comment string) ent.Field {
	return field.Bytes(name).GoType(uid.ID{}).SchemaType(uuidColumn).Immutable().Comment(comment)
}

// optionalUUID returns a field for a UUID that can be null.
func optionalUUID(name, comment string) ent.Field {
	return field.Bytes(name).GoType(uid.ID{}).SchemaType(uuidColumn).Optional().Nillable().Comment(comment)
}

var digestColumn = map[string]string{dialect.MySQL: "binary(32)", dialect.SQLite: "blob"}

// requiredDigest returns a field for a SHA-256 that is never null and that ent cannot
// update.
func requiredDigest(name, comment string) ent.Field {
	return field.Bytes(name).GoType(digest.SHA256{}).SchemaType(digestColumn).Immutable().Comment(comment)
}

func optionalDigest(name, comment string) ent.Field {
	return field.Bytes(name).GoType(digest.SHA256{}).SchemaType(digestColumn).Optional().Nillable().Comment(comment)
}

// timestamp returns a field for an instant. The column holds milliseconds since 1970-01-01 UTC.
func timestamp(name, comment string) ent.Field {
	return field.Int64(name).GoType(instant.Instant(0)).Comment(comment)
}

// optionalTimestamp is timestamp for an instant that can be null.
func optionalTimestamp(name, comment string) ent.Field {
	return field.Int64(name).GoType(instant.Instant(0)).Optional().Nillable().Comment(comment)
}

// text returns a field for a text of at most size characters. A character takes up to 4 bytes.
func text(name string, size int, comment string) ent.Field {
	return field.String(name).MaxLen(4 * size).SchemaType(map[string]string{dialect.MySQL: varchar(size)}).Comment(comment)
}

// emptyText is text with the empty text as default.
func emptyText(name string, size int, comment string) ent.Field {
	return field.String(name).MaxLen(4 * size).SchemaType(map[string]string{dialect.MySQL: varchar(size)}).Default("").Comment(comment)
}

func varchar(size int) string { return fmt.Sprintf("varchar(%d)", size) }
