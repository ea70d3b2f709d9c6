package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/domain/importer"
	"github.com/moderato-live/moderato/server/store"
)

type load struct {
	database
	File      string `arg:"" help:"The file, or - for standard input." placeholder:"FILE"`
	DryRun    bool   `help:"Store nothing: check every line against a temporary copy of the users, channels, categories and clients."`
	MaxErrors int    `help:"Stop at this many bad lines. The import reports and leaves out those before. With 1 it stops at the first." default:"100"`
}

// Validate rejects a number of errors that no import can have.
func (c *load) Validate() error {
	if c.MaxErrors < 1 {
		return fmt.Errorf("--max-errors %d: must be 1 or more", c.MaxErrors)
	}
	return nil
}

// Run imports a file.
func (c *load) Run(ctx context.Context, s *streams) error {
	in, closeInput, err := c.input(s)
	if err != nil {
		return err
	}
	defer closeInput()
	db, closeDB, err := c.target(ctx)
	if err != nil {
		return err
	}
	defer closeDB()
	report := newImportReport(c, s, in)
	im := importer.Importer{Store: db, Progress: report.progress, Skip: report.skip}
	if db.HasOneWriter() && !c.DryRun {
		im.Pace = importer.NewPace()
	}
	records, err := im.ImportLines(ctx, report)
	return report.conclude(records, err)
}

// target opens the database into which the file is imported: for a dry run, a temporary copy
// of what records refer to.
func (c *load) target(ctx context.Context) (db *store.Store, closeDB func(), err error) {
	if c.DB.Path != "" && !c.DryRun {
		if err := store.Migrate(ctx, store.URL(c.DB), slog.New(slog.DiscardHandler)); err != nil {
			return nil, nil, err
		}
	}
	if !c.DryRun {
		db, err = c.openForImport(ctx)
		if err != nil {
			return nil, nil, err
		}
		return db, db.Close, nil
	}
	from, err := c.openWithoutBound(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer from.Close()
	directory, err := os.MkdirTemp("", "moderato-import-")
	if err != nil {
		return nil, nil, err
	}
	remove := func() { _ = os.RemoveAll(directory) }
	db, err = rehearse(ctx, from, store.URL{Path: filepath.Join(directory, "rehearsal.db")})
	if err != nil {
		remove()
		return nil, nil, err
	}
	return db, func() { db.Close(); remove() }, nil
}

// rehearse creates a database with what records refer to.
func rehearse(ctx context.Context, from *store.Store, url store.URL) (*store.Store, error) {
	if err := store.Migrate(ctx, url, slog.New(slog.DiscardHandler)); err != nil {
		return nil, err
	}
	db, err := store.OpenForImport(ctx, url)
	if err != nil {
		return nil, err
	}
	if err := importer.CopyReferenced(ctx, from, db); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
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

// reportInterval is the time between two lines about the progress of an import.
const reportInterval = 2 * time.Second

// importReport tells what becomes of an import. It reads the input, to know how much of it is
// read.
type importReport struct {
	*load

	in             io.Reader
	out            io.Writer
	size, read     int64 // in bytes; the size is 0 if it is not known
	bad            int
	start, shownAt time.Time
}

func newImportReport(c *load, s *streams, in io.Reader) *importReport {
	r := &importReport{load: c, in: in, out: s.err, start: time.Now(), shownAt: time.Now()}
	if f, ok := in.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			r.size = info.Size()
		}
	}
	return r
}

// Read reads the input.
func (r *importReport) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	r.read += int64(n)
	return n, err
}

// progress reports the number of records that are stored so far, every few seconds.
func (r *importReport) progress(records int) {
	if time.Since(r.shownAt) < reportInterval {
		return
	}
	r.shownAt = time.Now()
	share := ""
	if r.size > 0 {
		share = fmt.Sprintf(", %d %% of the file read", 100*r.read/r.size)
	}
	fmt.Fprintf(r.out, "%d records, %s%s\n", records, r.rate(records), share)
}

func (r *importReport) rate(records int) string {
	return fmt.Sprintf("%.0f records/s", float64(records)/max(time.Since(r.start).Seconds(), 0.001))
}

// skip reports a bad line, and returns whether the import goes on without it.
func (r *importReport) skip(bad *feed.LineError) bool {
	if r.bad++; r.bad >= r.MaxErrors {
		return false
	}
	fmt.Fprintf(r.out, "%s: %s\n", r.File, bad)
	return true
}

// conclude writes the summary of an import, and returns its error.
func (r *importReport) conclude(records int, err error) error {
	var line *feed.LineError
	if errors.As(err, &line) {
		stored := ""
		if records > 0 && !r.DryRun {
			stored = fmt.Sprintf("the %d records before its batch are stored, ", records)
		}
		return fmt.Errorf("%s: %s; %scorrect the line and run the import again", r.File, strings.TrimSuffix(line.Error(), "."), stored)
	}
	if err != nil {
		return err
	}
	did := "imported"
	if r.DryRun {
		did = "dry run: checked, and did not store,"
	}
	fmt.Fprintf(r.out, "%s %d records in %s (%s)\n", did, records, time.Since(r.start).Round(time.Millisecond), r.rate(records))
	if r.bad > 0 {
		lines, left := "bad lines", "left out; correct them and run the import again"
		if r.bad == 1 {
			lines = "bad line"
		}
		if r.DryRun {
			left = "reported above; correct them before the import"
		}
		return fmt.Errorf("%s: %d %s: %s", r.File, r.bad, lines, left)
	}
	return nil
}
