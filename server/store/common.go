package store

import (
	"context"

	"github.com/moderato-live/moderato/ent"
)

// Common is what the bodies of one transaction have in common: what the earlier ones left for
// the later ones, and for the end of the transaction.
type Common struct {
	left map[any]Finisher
	keys []any // of left, in the order in which they were first left
	last map[any]Finisher
}

// Finisher is something that a transaction writes at its end.
type Finisher interface {
	// Finish runs directly before the commit, with the key under which the Finisher was
	// left.
	Finish(ctx context.Context, tx *ent.Tx, key any) error
}

func newCommon() *Common { return &Common{left: map[any]Finisher{}} }

// Left returns what an earlier body left under a key; nil if none did.
func (c *Common) Left(key any) Finisher { return c.left[key] }

// Leave replaces what earlier bodies left under a key, unless the present body is undone. It
// must not modify what Left returned.
func (c *Common) Leave(key any, f Finisher) {
	if c.last == nil {
		c.last = map[any]Finisher{}
	}
	c.last[key] = f
}

// keep keeps what the last body left, or forgets it if the body is undone.
func (c *Common) keep(isUndone bool) {
	for key, f := range c.last {
		if isUndone {
			break
		}
		if c.left[key] == nil {
			c.keys = append(c.keys, key)
		}
		c.left[key] = f
	}
	c.last = nil
}

// finish runs the Finishers.
func (c *Common) finish(ctx context.Context, tx *ent.Tx) error {
	for _, key := range c.keys {
		if err := c.left[key].Finish(ctx, tx, key); err != nil {
			return err
		}
	}
	return nil
}

// raise raises the store's Written if something was written at the end.
func (c *Common) raise(s *Store) {
	if len(c.keys) > 0 {
		s.Written.Raise()
	}
}
