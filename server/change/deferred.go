package change

import (
	"context"
	"slices"

	"github.com/moderato-live/moderato/server/users"
)

// Deferred is what a change writes about a user later than its body: at the end of the
// transaction, together with what the other changes of the transaction deferred, or before a
// change that may read it. All that is deferred has one type.
type Deferred interface {
	// Concerns reports whether what is deferred concerns a user. The key has an id or a
	// username.
	Concerns(key users.Key) bool
	// WriteAll writes what the changes of a transaction deferred, in the order of the changes.
	// No two of them concern the same user. The times of c and its caller have no meaning.
	WriteAll(ctx context.Context, c *Change, all []Deferred) error
}

// Defer defers a write about the user of the change, which ApplyToOne must make. On an
// embedded database, which has no round trips to save, the write happens now: changes other
// than those of the channel share the transaction there, and may read what is written.
func (c *Change) Defer(ctx context.Context, d Deferred) error {
	c.deferred = append(c.deferred, d)
	if c.Store.SharesAmongChannels() {
		return c.flush(ctx)
	}
	return nil
}

func (c *Change) hasDeferred(key users.Key) bool {
	return slices.ContainsFunc(c.deferred, func(d Deferred) bool { return d.Concerns(key) })
}

// flush writes what was deferred.
func (c *Change) flush(ctx context.Context) error {
	all := c.deferred
	if len(all) == 0 {
		return nil
	}
	c.deferred = nil
	return all[0].WriteAll(ctx, c, all)
}
