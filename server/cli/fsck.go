package cli

import (
	"context"
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"github.com/moderato-live/moderato/server/domain/fsck"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
)

type check struct {
	database
	retentionFlag
	Fix  bool `help:"Repair what follows from other rows, such as counters, and print what was repaired."`
	JSON bool `name:"json" help:"Print each finding as one line of JSON."`
}

// Run checks the database, and returns an error if a violation remains.
func (c *check) Run(ctx context.Context, s *streams) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	db, err := c.openWithoutBound(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	start := time.Now()
	progress := func(string) {}
	if isTerminal(s.err) {
		progress = func(name string) { fmt.Fprintf(s.err, "\r\033[K%s", name) }
		defer fmt.Fprint(s.err, "\r\033[K")
	}
	remaining, fixed, err := c.check(ctx, db, s, progress)
	if err != nil {
		return fmt.Errorf("fsck: %w", err)
	}
	if fixed > 0 {
		fmt.Fprintf(s.err, "repaired %d findings\n", fixed)
	}
	if remaining > 0 && c.Fix {
		return fmt.Errorf("fsck: %d findings cannot be repaired from other rows", remaining)
	}
	if remaining > 0 {
		return fmt.Errorf("fsck: %d findings", remaining)
	}
	fmt.Fprintf(s.err, "no findings (%s)\n", time.Since(start).Round(time.Millisecond))
	return nil
}

// check prints each finding. It returns how many remain, and how many it repaired.
func (c *check) check(ctx context.Context, db *store.Store, s *streams, progress func(string)) (remaining, fixed int, err error) {
	keep := eventtype.Retention(c.Retention)
	found := func(f fsck.Finding) {
		remaining++
		c.print(s, f, "")
	}
	if !c.Fix {
		err = fsck.Run(ctx, db, keep, progress, found)
		return remaining, fixed, err
	}
	unlock, err := db.LockMigrations(ctx, store.URL(c.DB)) // also keeps another repair away
	if err != nil {
		return remaining, fixed, err
	}
	defer unlock()
	err = fsck.Fix(ctx, db, keep, progress, found, func(f fsck.Finding, did string) {
		fixed++
		c.print(s, f, did)
	})
	return remaining, fixed, err
}

// print prints a finding, and what was done about it.
func (c *check) print(s *streams, f fsck.Finding, did string) {
	switch {
	case c.JSON:
		_ = printJSON(s.out, struct {
			Check  string `json:"check"`
			What   string `json:"what"`
			Repair string `json:"repair,omitempty"`
		}{f.Check, f.What, did})
	case did != "":
		fmt.Fprintf(s.out, "%s; %s\n", f, did)
	default:
		fmt.Fprintln(s.out, f)
	}
}
