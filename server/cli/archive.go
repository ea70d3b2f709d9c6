package cli

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/archive"
)

// archiveCommands are the commands on archives.
type archiveCommands struct {
	Write  archiveWrite  `cmd:"" help:"Write the events and the log of a time range to a directory, as JSON Lines. If interrupted, run it again."`
	Verify archiveVerify `cmd:"" help:"Compare the files of an archive with their checksums."`
	Erase  archiveErase  `cmd:"" help:"Erase a user from files of archives. An erasure in the database does not reach them."`
}

type archiveWrite struct {
	database
	Dir  string    `arg:"" help:"The directory of the archive; it is created." type:"path" placeholder:"DIR"`
	From timeOrDay `help:"The time of the first events: RFC 3339, or a day in UTC." required:"" placeholder:"TIME"`
	To   timeOrDay `help:"The time before which the last events happened; not in the future." required:"" placeholder:"TIME"`
}

// Run writes the archive.
func (c *archiveWrite) Run(ctx context.Context, s *streams) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	db, err := c.openWithoutBound(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	a := &archive.Archiver{Store: db, Progress: func(name string, events int64) { fmt.Fprintf(s.err, "%s: %d events\n", name, events) }}
	n, err := a.Write(ctx, c.Dir, archive.Range{From: instant.Instant(c.From), To: instant.Instant(c.To)})
	switch {
	case errors.Is(err, archive.ErrComplete):
		fmt.Fprintln(s.err, err)
		return nil
	case ctx.Err() != nil:
		return errors.New("archive: interrupted; run the command again to continue")
	case err != nil:
		return fmt.Errorf("archive: %w", err)
	}
	fmt.Fprintf(s.err, "archived %d events in %s\n", n, c.Dir)
	return nil
}

type archiveVerify struct {
	Dir string `arg:"" help:"The directory of the archive." type:"path" placeholder:"DIR"`
}

// Run verifies the archive.
func (c *archiveVerify) Run(_ context.Context, s *streams) error {
	n, err := archive.Verify(c.Dir, func(difference string) { fmt.Fprintln(s.out, difference) })
	if err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	fmt.Fprintf(s.err, "%d events are as they were written\n", n)
	return nil
}

type archiveErase struct {
	User  string   `arg:"" help:"The user's UUID." placeholder:"USER"`
	Files []string `arg:"" help:"Files of archives." type:"path" placeholder:"FILE"`
}

// Validate rejects names, because files have only ids.
func (c *archiveErase) Validate() error {
	if _, err := uid.Parse(c.User); err != nil {
		return fmt.Errorf("%q must be the UUID of a user, which moderato user show prints: an archive is searched by id", c.User)
	}
	return nil
}

// Run erases the user from each file.
func (c *archiveErase) Run(_ context.Context, s *streams) error {
	id, err := uid.Parse(c.User)
	if err != nil {
		return err
	}
	for _, path := range c.Files {
		done, err := archive.Erase(path, id)
		if err != nil {
			return fmt.Errorf("archive: %w", err)
		}
		fmt.Fprintf(s.err, "%s: %d events changed, %d removed\n", path, done.Changed, done.Removed)
	}
	return nil
}

// timeOrDay is an instant as a flag.
type timeOrDay instant.Instant

// UnmarshalText parses the flag.
func (i *timeOrDay) UnmarshalText(text []byte) error {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, string(text)); err == nil {
			*i = timeOrDay(instant.Of(at))
			return nil
		}
	}
	return fmt.Errorf("%q must be a time such as 2026-01-31T12:00:00Z, or a day such as 2026-01-31", text)
}
