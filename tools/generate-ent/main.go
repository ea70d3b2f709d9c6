// Command generate-ent generates ent/ from ent/schema, like ent generate, except that the
// client has no hooks, no edges and nothing that trim removes, and does not import
// ent/migrate. Only the comparison of a database with ent/schema needs ent/migrate: it
// depends on atlas, whose compilation would take a tenth of the time of a first build of the
// server.
package main

import (
	"log"
	"slices"
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
	config := &gen.Config{Target: "./ent", Storage: storage, Features: []gen.Feature{gen.FeatureExecQuery}}
	graph, err := entc.LoadGraph("./ent/schema", config)
	if err != nil {
		return err
	}
	var migrate, client []gen.GraphTemplate
	for _, t := range gen.GraphTemplates {
		switch directory, _, _ := strings.Cut(t.Format, "/"); directory {
		case "migrate":
			migrate = append(migrate, t)
		case "hook", "enttest": // are not used
		default:
			client = append(client, t)
		}
	}
	types := gen.Templates
	gen.Templates, gen.GraphTemplates = nil, migrate
	if err := graph.Gen(); err != nil {
		return err
	}
	gen.Templates, gen.GraphTemplates = types, client
	if graph, err = withoutEdges(graph); err != nil {
		return err
	}
	if err := graph.Gen(); err != nil {
		return err
	}
	if err := writeColumns("./ent/columns", graph); err != nil {
		return err
	}
	return trim("./ent")
}

// withoutEdges returns the graph of the client. The only purpose of the edges are primary
// keys of two columns, which ent has for them alone. ent/migrate needs them; the client only
// needs to know the columns.
func withoutEdges(original *gen.Graph) (*gen.Graph, error) {
	storage, config := *original.Storage, *original.Config
	storage.SchemaMode &^= gen.Migrate
	config.Storage = &storage
	for _, s := range original.Schemas {
		s.Edges = nil
	}
	graph, err := gen.NewGraph(&config, original.Schemas...)
	if err != nil {
		return nil, err
	}
	for i, n := range graph.Nodes {
		key := original.Nodes[i].EdgeSchema.ID
		if len(key) == 0 {
			continue
		}
		n.ID, n.EdgeSchema.From = nil, &gen.Edge{}
		for _, column := range key {
			at := slices.IndexFunc(n.Fields, func(f *gen.Field) bool { return f.Name == column.Name })
			n.EdgeSchema.ID = append(n.EdgeSchema.ID, n.Fields[at])
		}
	}
	return graph, nil
}
