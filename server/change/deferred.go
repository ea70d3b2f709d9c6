package change

import (
	"context"
	"reflect"
	"slices"

	"github.com/moderato-live/moderato/server/users"
)

// Deferred is a write about a user that a change makes after its body: at the end of the
// transaction, or before a later change that may read it. All deferred writes of one type are
// made together.
type Deferred interface {
	// Concerns reports whether what is deferred concerns a user. The key has an id or a
	// username.
	Concerns(key users.Key) bool
	// WriteAll makes all deferred writes of this type. Those of each channel are in the order
	// of its changes, and no two of them concern the same user.
	WriteAll(ctx context.Context, all []Due) error
}

// Due is a deferred write that is to be made now.
type Due struct {
	Deferred
	// Change is a change of the channel. Its times and its caller have no meaning.
	Change *Change
}

// Defer defers a write about the user of the change. The change must be made by ApplyToOne.
func (c *Change) Defer(d Deferred) { c.deferred = append(c.deferred, d) }

func (c *Change) hasDeferred(key users.Key) bool {
	return slices.ContainsFunc(c.deferred, func(d Deferred) bool { return d.Concerns(key) })
}

// flush makes the writes that the changes of some channels deferred.
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
