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
		field.Int64("id").Annotations(entsql.Annotation{Incremental: new(bool)}).Comment("Chosen by the platform; 0 is Uncategorized."),
		field.Int64("parent_id").Optional().Nillable().Comment("The category above this one."),
		text("name", 140, "The name shown to people."),
		text("slug", 140, "The name in addresses."),
		text("image_url", 2048, "May be empty."),
	}
}

// Annotations of Category.
func (Category) Annotations() []schema.Annotation { return []schema.Annotation{table("categories")} }
