package store

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"

	"entgo.io/ent/dialect/sql/schema"
)

var comparing sync.Mutex

// SchemaDrift returns the statements that would change the database's tables to match
// ent/schema. If there are any after Migrate, a migration is missing.
func (s *Store) SchemaDrift(ctx context.Context) ([]string, error) {
	// The comparison writes to package variables of ent/migrate.
	comparing.Lock()
	defer comparing.Unlock()
	var out bytes.Buffer
	err := s.write.Schema.WriteTo(ctx, &out,
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
