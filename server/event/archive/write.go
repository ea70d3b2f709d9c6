package archive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// maxEvents and maxBytes bound a file. An interrupted run repeats at most one.
	maxEvents = 100_000
	maxBytes  = 256 << 20
	// pageSize is how many events a statement reads. They are written as they are read.
	pageSize = 1000
	// settled is how long after an instant all events of it are committed.
	settled = time.Minute
)

// Archiver writes an archive.
type Archiver struct {
	Store *store.Store
	// Progress, if not nil, is called with each file that is complete.
	Progress func(name string, events int64)

	maxEvents int64 // in tests
}

// ErrComplete is returned for an archive that has all events already.
var ErrComplete = errors.New("the archive is complete")

// Write writes the events of a range to a directory, or continues what an earlier run has written
// there. It returns their number.
func (a *Archiver) Write(ctx context.Context, path string, r Range) (events int64, err error) {
	now, err := a.Store.Clock.Now(ctx, a.Store.Read)
	switch {
	case err != nil:
		return 0, err
	case r.From >= r.To:
		return 0, fmt.Errorf("the range %s is empty: its end must be later than its start", r)
	case r.To > now.Add(-settled):
		return 0, fmt.Errorf("the range ends at %s, and the latest possible end is %s: later events can still follow", r.To, now.Add(-settled))
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return 0, err
	}
	d, err := open(path)
	if err != nil {
		return 0, err
	}
	defer d.close()
	if err := d.begin(r); err != nil {
		return 0, err
	}
	if err := a.writeTypes(ctx, d); err != nil {
		return 0, err
	}
	for _, f := range d.manifest.Files {
		events += f.Events
	}
	d.manifest.IsComplete = true
	return events, d.save()
}

// begin makes a directory without a manifest the archive of a range, and rejects one with other
// content.
func (d *directory) begin(r Range) error {
	if m := d.manifest; m != nil {
		switch {
		case m.Range != r:
			return fmt.Errorf("%s has the archive of %s; choose another directory for %s", d.path, m.Range, r)
		case m.IsComplete:
			return fmt.Errorf("%s: %w", d.path, ErrComplete)
		}
		return nil
	}
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return err
	}
	if len(entries) > 0 && entries[0].Name() != manifestName+unfinished {
		return fmt.Errorf("%s has files, such as %s, and is no archive; choose another directory", d.path, entries[0].Name())
	}
	d.manifest = &manifest{Format: format, Range: r, Files: []*file{}}
	return d.save()
}

// writeTypes writes the events of each type, in the order of the types' names.
func (a *Archiver) writeTypes(ctx context.Context, d *directory) error {
	kind := ""
	for {
		var next *string
		if err := store.QueryRow(ctx, a.Store.Read, "SELECT MIN(type) FROM events WHERE type > ?", []any{kind}, &next); err != nil || next == nil {
			return err
		}
		kind = *next
		for more := true; more; {
			var err error
			if more, err = a.writeFile(ctx, d, kind); err != nil {
				return fmt.Errorf("archive %s: %w", kind, err)
			}
		}
	}
}

// writeFile writes the next file of a type, unless no events are left. It reports whether more may
// follow.
func (a *Archiver) writeFile(ctx context.Context, d *directory, kind string) (more bool, err error) {
	f := &file{Type: kind, LastAt: d.manifest.From}
	number := 1
	for _, earlier := range d.manifest.Files {
		if earlier.Type == kind {
			f.LastAt, f.LastID = earlier.LastAt, earlier.LastID
			number++
		}
	}
	f.Name = fmt.Sprintf("%s-%04d.jsonl", kind, number)
	w, err := d.create(f.Name)
	if err != nil {
		return false, err
	}
	most := cmp.Or(a.maxEvents, maxEvents)
	for more = true; more && f.Events < most && w.bytes < maxBytes; {
		if more, err = a.writePage(ctx, d.manifest.To, f, w); err != nil {
			return false, errors.Join(err, w.abandon())
		}
	}
	if f.Events == 0 {
		return false, w.abandon()
	}
	if err := w.finish(); err != nil {
		return false, err
	}
	// The manifest comes first, so that no file is left that it does not list.
	w.describe(f)
	d.manifest.Files = append(slices.Clip(d.manifest.Files), f)
	if err := d.save(); err != nil {
		return false, err
	}
	if err := d.rename(f.Name); err != nil {
		return false, err
	}
	if a.Progress != nil {
		a.Progress(f.Name, f.Events)
	}
	return more, nil
}

// writePage writes the next events of a file. It reports whether more may follow.
func (a *Archiver) writePage(ctx context.Context, to instant.Instant, f *file, w *writer) (more bool, err error) {
	var after uid.ID // less than every id, for the first page
	if f.LastID != "" {
		if after, err = uid.Parse(f.LastID); err != nil {
			return false, fmt.Errorf("the manifest: lastId: %w", err)
		}
	}
	n, limit := int64(0), min(pageSize, cmp.Or(a.maxEvents, pageSize))
	err = store.QueryEach(ctx, a.Store.Read, `
		SELECT id, channel_id, sequence, position, type, occurred_at, actor_id, target_id, client_id, request_id, payload, evidence FROM events`+a.Store.ByIndex("event_type_occurred_at")+`
		WHERE type = ? AND occurred_at >= ? AND occurred_at < ? AND (occurred_at > ? OR id > ?)
		ORDER BY occurred_at, id LIMIT ?`,
		[]any{f.Type, f.LastAt, to, f.LastAt, after, limit}, func(scan func(...any) error) error {
			n++
			return f.add(scan, w)
		})
	return n == limit, err
}

// add writes an event that a statement returned.
func (f *file) add(scan func(...any) error, w *writer) error {
	var e Event
	var id, channelID uid.ID
	var actorID, targetID *uid.ID
	var payload []byte
	var evidence *string
	err := scan(&id, &channelID, &e.Sequence, &e.Position, &e.Type, &f.LastAt, &actorID, &targetID, &e.ClientID, &e.RequestID, &payload, &evidence)
	if err != nil {
		return err
	}
	e.ID, e.ChannelID, e.OccurredAt, e.Payload = id.String(), channelID.String(), f.LastAt.String(), payload
	e.ActorID, e.TargetID = uid.Text(actorID), uid.Text(targetID)
	if evidence != nil {
		e.Evidence = json.RawMessage(*evidence)
	}
	f.LastID = e.ID
	f.Events++
	return e.writeTo(w)
}

func (e *Event) writeTo(w *writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(e)
}
