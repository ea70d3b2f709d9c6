// Package drift compares the tables of a database with ent/schema. It is not a part of
// package store, so that the server does not depend on ent/migrate.
package drift

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"

	entsql "entgo.io/ent/dialect/sql"
	"entgo.io/ent/dialect/sql/schema"

	"github.com/moderato-live/moderato/ent/migrate"
	"github.com/moderato-live/moderato/server/store"
)

var comparing sync.Mutex

// Statements returns the statements that would change the database's tables to match
// ent/schema. If there are any after store.Migrate, a migration is missing.
func Statements(ctx context.Context, s *store.Store) ([]string, error) {
	// The comparison writes to package variables of ent/migrate.
	comparing.Lock()
	defer comparing.Unlock()
	var out bytes.Buffer
	err := migrate.NewSchema(entsql.OpenDB(s.Name(), s.DB())).WriteTo(ctx, &out,
		schema.WithForeignKeys(false), schema.WithDropColumn(true), schema.WithDropIndex(true))
	if err != nil {
		return nil, fmt.Errorf("compare tables and schema: %w", err)
	}
	var statements []string
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "--") {
			statements = append(statements, line)
		}
	}
	return statements, nil
}
