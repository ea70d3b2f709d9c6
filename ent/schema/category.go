package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
)

// Category is a category of channels, streams, clips and VODs.
type Category struct{ ent.Schema }

// Fields of Category.
func (Category) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id").Annotations(entsql.Annotation{Incremental: new(bool)}).Comment("The id, which the platform chooses: 1 to 2^62 - 1; 0 is Uncategorized."),
		field.Int64("parent_id").Optional().Nillable().Comment("The parent category; null if there is none."),
		text("name", 140, "The display name: 1 to 140 characters."),
		text("slug", 140, "The name in URLs: 1 to 140 characters."),
		text("image_url", 2048, "The URL of the picture; may be empty."),
	}
}

// Annotations of Category.
func (Category) Annotations() []schema.Annotation { return []schema.Annotation{table("categories")} }
