package archive

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/rpc/users"
)

// Erased says what an erasure changed in a file.
type Erased struct {
	// Changed is how many events name the user no longer, and Removed how many events of the
	// user's channel are gone.
	Changed, Removed int64
}

// Erase removes a user from a file of an archive, by the rules of an erasure in the database. The
// new file and its checksum replace the old ones. It can be repeated.
func Erase(path string, id uid.ID) (done Erased, err error) {
	d, err := openArchive(filepath.Dir(path))
	if err != nil {
		return done, err
	}
	defer d.close()
	f := d.find(filepath.Base(path))
	if f == nil {
		return done, fmt.Errorf("%s is not in the manifest of its directory", path)
	}
	if err := d.check(f); err != nil {
		return done, fmt.Errorf("%s %w; nothing was changed", path, err)
	}
	w, err := d.create(f.Name)
	if err != nil {
		return done, err
	}
	err = d.each(f, func(e *Event) error {
		if e.ChannelID == id.String() {
			done.Removed++
			return nil
		}
		isChanged, err := e.erase(id)
		if err != nil {
			return err
		}
		if isChanged {
			done.Changed++
		}
		return e.writeTo(w)
	})
	if err != nil || done == (Erased{}) {
		return Erased{}, errors.Join(err, w.abandon())
	}
	if err := w.finish(); err != nil {
		return Erased{}, err
	}
	// The manifest comes first: with its checksum, open recognizes the new file if this process
	// ends before it is renamed.
	w.describe(f)
	f.Events -= done.Removed
	if err := d.save(); err != nil {
		return Erased{}, err
	}
	return done, d.rename(f.Name)
}

// erase removes a user from an event.
func (e *Event) erase(id uid.ID) (isChanged bool, err error) {
	of := func(field **string, isAbout bool) error {
		if *field == nil || **field != id.String() {
			return nil
		}
		isChanged = true
		*field = new(users.Deleted.String())
		payload, err := outbox.Anonymous(string(e.Payload), id, isAbout)
		e.Payload = []byte(payload)
		return err
	}
	if e.TargetID != nil && *e.TargetID == id.String() {
		e.Evidence = nil
	}
	err = errors.Join(of(&e.TargetID, true), of(&e.ActorID, false))
	return isChanged, err
}
