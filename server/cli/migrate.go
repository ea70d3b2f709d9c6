package cli

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/moderato-live/moderato/server/store"
)

type migrate struct{ database }

// Run migrates the database and reports the result.
func (c *migrate) Run(ctx context.Context, s *streams) error {
	if err := store.Migrate(ctx, store.URL(c.DB), newLog(s.err, slog.LevelInfo, "auto")); err != nil {
		return err
	}
	fmt.Fprintf(s.err, "%s is at this version.\n", store.URL(c.DB))
	return nil
}
