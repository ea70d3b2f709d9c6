package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/moderato-live/moderato/server/store"
)

type backup struct {
	database
	File string `arg:"" help:"The file to create; it must not exist." placeholder:"FILE"`
}

// Run copies the database.
func (c *backup) Run(ctx context.Context, s *streams) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if c.DB.Path == "" {
		return errors.New("backup supports SQLite only; for MySQL and MariaDB see docs/operations.md#back-up-mysql-and-mariadb")
	}
	if err := c.checkExists(); err != nil {
		return err
	}
	start := time.Now()
	err := store.BackUp(ctx, store.URL(c.DB), c.File, func() {})
	if ctx.Err() != nil {
		return errors.New("backup: interrupted; nothing was kept")
	}
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("backup: %s already exists; choose another file", c.File)
	}
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	info, err := os.Stat(c.File)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	fmt.Fprintf(s.err, "copied %d bytes to %s in %s; check it with: moderato fsck --db sqlite:%[2]s\n", info.Size(), c.File, time.Since(start).Round(time.Millisecond))
	return nil
}
