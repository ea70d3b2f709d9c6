package cli

import (
	"context"
	"fmt"
)

type keysRotate struct {
	database
	Revoke bool `help:"Delete the earlier keys: their cursors become invalid. Use it if a key was disclosed."`
}

// Run creates a new key for cursors.
func (c *keysRotate) Run(ctx context.Context, s *streams) error {
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.RotateCursorKey(ctx, c.Revoke); err != nil {
		return fmt.Errorf("rotate the key for cursors: %w", err)
	}
	if c.Revoke {
		fmt.Fprintln(s.err, "created a new key for cursors and deleted the earlier ones; servers refuse the earlier cursors within 75 seconds")
		return nil
	}
	fmt.Fprintln(s.err, "created a new key for cursors; servers use it within 75 seconds, and earlier cursors stay valid")
	return nil
}
