package change

import (
	"context"

	"github.com/moderato-live/moderato/server/authz"
	"github.com/moderato-live/moderato/server/fair"
)

// maxAhead is for how many other changes one change reads at most.
const maxAhead = 31

// ahead holds the facts that a change of the transaction has read for changes of the channel
// that waited for their turns. They are valid because the transaction holds the lock of the
// channel. They must be forgotten before the transaction writes what they may depend on.
type ahead struct {
	facts map[*authz.Facts]bool
}

// keep replaces the facts. Those that were read earlier would make the time of a later change
// earlier than that of the change that reads now.
func (a *ahead) keep(facts []*authz.Facts) {
	a.facts = make(map[*authz.Facts]bool, len(facts))
	for _, f := range facts {
		a.facts[f] = true
	}
}

func (a *ahead) forget() { a.facts = nil }

// announce returns the context of a change whose facts another change may read, while the
// change waits for its turn. If the wait ends without a turn, nobody may use the facts: the
// other change may still be writing them.
func announce(ctx context.Context, facts *authz.Facts) context.Context {
	r := fair.FromContext(ctx)
	r.Announced = facts
	return fair.NewContext(ctx, r)
}

// read reads the facts of the change, unless an earlier change of the transaction has. It also
// reads those of the changes that have their turns next, because a statement about many changes
// costs little more than one about a single change.
func (c *Change) read(ctx context.Context, own *authz.Facts) error {
	if c.ahead.facts[own] {
		return nil
	}
	c.ahead.forget() // also if the statements fail, which overwrite the facts
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
	if err == nil {
		c.ahead.keep(all[1:])
	}
	return err
}

// next returns the facts of the changes that have their turns next and may join the
// transaction, as far as they can be read with those of the change.
func (c *Change) next(ctx context.Context, own *authz.Facts) []*authz.Facts {
	var all []*authz.Facts
	for _, announced := range c.turn.Next(min(maxAhead, c.room), fair.FromContext(ctx).Priority) {
		if facts, ok := announced.(*authz.Facts); ok && facts.CanReadWith(own) {
			all = append(all, facts)
		}
	}
	return all
}
