package change

import (
	"context"
	"reflect"
	"slices"

	"github.com/moderato-live/moderato/server/users"
)

// Deferred is what a change writes about a user later than its body: at the end of the
// transaction, together with what of its type the other changes of the transaction deferred,
// or before a change that may read it.
type Deferred interface {
	// Concerns reports whether what is deferred concerns a user. The key has an id or a
	// username.
	Concerns(key users.Key) bool
	// WriteAll writes what the changes of a transaction deferred of this type, in the order of
	// the changes of each channel. No two of them concern the same user in a channel.
	WriteAll(ctx context.Context, all []Due) error
}

// Due is a deferred write that is to be made now.
type Due struct {
	Deferred
	// Change is a change of the channel. Its times and its caller have no meaning.
	Change *Change
}

// Defer defers a write about the user of the change, which ApplyToOne must make.
func (c *Change) Defer(d Deferred) { c.deferred = append(c.deferred, d) }

func (c *Change) hasDeferred(key users.Key) bool {
	return slices.ContainsFunc(c.deferred, func(d Deferred) bool { return d.Concerns(key) })
}

// flush writes what the changes of some channels deferred.
func flush(ctx context.Context, changes ...*Change) error {
	var types []reflect.Type // in the order in which they were first deferred
	all := map[reflect.Type][]Due{}
	for _, c := range changes {
		for _, d := range c.deferred {
			of := reflect.TypeOf(d)
			if all[of] == nil {
				types = append(types, of)
			}
			all[of] = append(all[of], Due{d, c})
		}
		c.deferred = nil
	}
	for _, of := range types {
		if err := all[of][0].WriteAll(ctx, all[of]); err != nil {
			return err
		}
	}
	return nil
}
