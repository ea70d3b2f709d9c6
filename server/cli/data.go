package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/moderato-live/moderato/server/feed"
	"github.com/moderato-live/moderato/server/importer"
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

type load struct {
	database
	File string `arg:"" help:"The file, or - for standard input." placeholder:"FILE"`
}

// Run imports a file.
func (c *load) Run(ctx context.Context, s *streams) error {
	in, closeInput, err := c.input(s)
	if err != nil {
		return err
	}
	defer closeInput()
	if c.DB.Path != "" {
		if err := store.Migrate(ctx, store.URL(c.DB), slog.New(slog.DiscardHandler)); err != nil {
			return err
		}
	}
	db, err := c.openForImport(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	start := time.Now()
	importer := importer.Importer{Store: db}
	if isTerminal(s.err) {
		importer.Progress = func(records int) { fmt.Fprintf(s.err, "\r%d records", records) }
		defer fmt.Fprintln(s.err)
	}
	records, err := importer.ImportLines(ctx, in)
	if err != nil {
		var line *feed.LineError
		if errors.As(err, &line) {
			stored := ""
			if records > 0 {
				stored = fmt.Sprintf("the %d records before its batch are stored, ", records)
			}
			err = fmt.Errorf("%s: %s; %scorrect the line and run the import again", c.File, strings.TrimSuffix(line.Error(), "."), stored)
		}
		return err
	}
	fmt.Fprintf(s.err, "\rimported %d records in %s\n", records, time.Since(start).Round(time.Millisecond))
	return nil
}

func (c *load) input(s *streams) (in io.Reader, closeInput func(), err error) {
	if c.File == "-" {
		return s.in, func() {}, nil
	}
	f, err := os.Open(c.File)
	if err != nil {
		return nil, nil, fmt.Errorf("import: %w", err)
	}
	return f, func() { _ = f.Close() }, nil
}
