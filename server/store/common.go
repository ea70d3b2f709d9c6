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

	shared *shared // nil if the transaction is not shared
}

// Lock locks the row of a channel. The function reads the row with a SELECT, to which it
// appends end, and reports whether it found the row.
func (c *Common) Lock(d *Dialect, lock func(end string) (found bool, err error)) error {
	if c.shared != nil {
		return c.shared.lock(lock)
	}
	_, err := lock(d.ForUpdate())
	return err
}

// Room returns the number of further bodies that can join the transaction.
func (c *Common) Room() int {
	if c.shared == nil || !c.shared.mayGrow() {
		return 0
	}
	return c.shared.store.maxShares - c.shared.shares
}

// Finisher is something that a transaction writes at its end.
type Finisher interface {
	// Finish runs directly before the commit, for all Finishers that were left. They have one
	// type.
	Finish(ctx context.Context, tx *ent.Tx, all []Finisher) error
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

// finish runs the Finishers, in the order in which they were first left.
func (c *Common) finish(ctx context.Context, tx *ent.Tx) error {
	if len(c.keys) == 0 {
		return nil
	}
	all := make([]Finisher, len(c.keys))
	for i, key := range c.keys {
		all[i] = c.left[key]
	}
	return all[0].Finish(ctx, tx, all)
}

// raise raises the store's Written if something was written at the end.
func (c *Common) raise(s *Store) {
	if len(c.keys) > 0 {
		s.Written.Raise()
	}
}
