package archive

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// maxLine bounds a line: a payload and evidence, each of which has at most 16 MiB.
const maxLine = 40 << 20

// Verify compares the files of an archive with its manifest, and returns the number of events. It
// calls found for each difference, and returns an error if there is one.
func Verify(path string, found func(difference string)) (events int64, err error) {
	d, err := openArchive(path)
	if err != nil {
		return 0, err
	}
	defer d.close()
	differences := 0
	report := func(format string, args ...any) {
		differences++
		found(fmt.Sprintf(format, args...))
	}
	for _, f := range d.manifest.Files {
		events += f.Events
		if err := d.check(f); err != nil {
			report("%s: %s", f.Name, err)
		}
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return events, err
	}
	for _, e := range entries {
		if e.Name() != manifestName && d.find(e.Name()) == nil {
			report("%s: is not in the manifest", e.Name())
		}
	}
	if !d.manifest.IsComplete {
		report("the archive is not complete: continue it with moderato archive write")
	}
	if differences > 0 {
		return events, fmt.Errorf("%s: %d differences", path, differences)
	}
	return events, nil
}

// openArchive is open for a directory that must have a manifest.
func openArchive(path string) (*directory, error) {
	d, err := open(path)
	if err != nil {
		return nil, err
	}
	if d.manifest == nil {
		d.close()
		return nil, fmt.Errorf("%s is not an archive: %s is missing", path, manifestName)
	}
	return d, nil
}

// check compares a file with the manifest.
func (d *directory) check(f *file) error {
	sum, size, err := sumOf(d.file(f.Name))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return errors.New("is missing")
	case err != nil:
		return err
	case size < f.Bytes:
		return fmt.Errorf("is truncated: it has %d bytes, and the manifest says %d", size, f.Bytes)
	case sum != f.SHA256:
		return errors.New("does not match the checksum in the manifest")
	}
	events := int64(0)
	if err := d.each(f, func(*Event) error { events++; return nil }); err != nil {
		return err
	}
	if events != f.Events {
		return fmt.Errorf("has %d events, and the manifest says %d", events, f.Events)
	}
	return nil
}

// each calls do with each event of a file.
func (d *directory) each(f *file, do func(*Event) error) error {
	in, err := os.Open(filepath.Clean(d.file(f.Name)))
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	lines := bufio.NewScanner(io.Reader(in))
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	number := 0
	for lines.Scan() {
		number++
		var e Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("line %d is no event: %w", number, err)
		}
		e.Payload = slices.Clone(e.Payload)
		if err := do(&e); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	return lines.Err()
}
