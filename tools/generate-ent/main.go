// Command generate-ent generates ent/ from ent/schema, like ent generate, except that the
// client lacks what trim removes and does not import ent/migrate. Only the comparison of a
// database with ent/schema needs ent/migrate: it depends on atlas, whose compilation would
// take a tenth of the time of a first build of the server.
package main

import (
	"log"
	"strings"

	"entgo.io/ent/entc"
	"entgo.io/ent/entc/gen"
)

func main() {
	if err := generate(); err != nil {
		log.Fatal(err)
	}
}

func generate() error {
	storage, err := gen.NewStorage("sql")
	if err != nil {
		return err
	}
	withoutMigrate := *storage
	withoutMigrate.SchemaMode &^= gen.Migrate
	for i, t := range gen.GraphTemplates {
		if strings.HasPrefix(t.Format, "migrate/") {
			gen.GraphTemplates[i].Skip = nil // is generated all the same
		}
	}
	if err := entc.Generate("./ent/schema", &gen.Config{Storage: &withoutMigrate, Features: []gen.Feature{gen.FeatureExecQuery}}); err != nil {
		return err
	}
	return trim("./ent")
}
