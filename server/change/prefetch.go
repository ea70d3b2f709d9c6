package change

import (
	"context"

	"github.com/moderato-live/moderato/server/authz"
	"github.com/moderato-live/moderato/server/fair"
)

// maxPrefetched is the maximum number of waiting changes whose facts one change reads.
const maxPrefetched = 31

// prefetched is the facts of waiting changes that an earlier change of the same channel and
// transaction has read. They are valid while the transaction holds the lock of the channel and
// has not written anything that they depend on.
type prefetched map[*authz.Facts]bool

// announce returns the context of a change that lets another change read its facts while it
// waits for its turn. If the change never has its turn, for example because its caller leaves,
// it must not use the facts: the other change may still be writing them.
func announce(ctx context.Context, facts *authz.Facts) context.Context {
	r := fair.FromContext(ctx)
	r.Announced = facts
	return fair.NewContext(ctx, r)
}

// read reads the facts of the change, unless an earlier change has read them. It also reads the
// facts of the next changes: one statement for many changes costs little more than one for a
// single change.
func (c *Change) read(ctx context.Context, own *authz.Facts) error {
	if c.prefetched[own] {
		return nil
	}
	// The statements may overwrite facts and then fail. Facts that they do not overwrite would
	// give a later change an earlier time.
	clear(c.prefetched)
	all := []*authz.Facts{own}
	if c.isToOne {
		all = append(all, c.next(ctx, own)...)
	}
	var err error
	if len(all) == 1 {
		err = own.Read(ctx, c.Store, c.Tx)
	} else {
		err = authz.ReadTogether(ctx, c.Store, c.Tx, all)
	}
	if err != nil {
		return err
	}
	for _, f := range all[1:] {
		c.prefetched[f] = true
	}
	return nil
}

// next returns the facts of the next changes that can join the transaction, as far as one
// statement can read them with those of this change.
func (c *Change) next(ctx context.Context, own *authz.Facts) []*authz.Facts {
	var all []*authz.Facts
	for _, announced := range c.turn.Next(min(maxPrefetched, c.room), fair.FromContext(ctx).Priority) {
		if facts, ok := announced.(*authz.Facts); ok && facts.CanReadWith(own) {
			all = append(all, facts)
		}
	}
	return all
}
