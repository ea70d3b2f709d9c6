// Package archive keeps events, with what the log has of them, in files. An archive is a
// directory with the events of a time range as JSON Lines, and a manifest with the checksum of
// each file. An interrupted archive can be continued, and a person can be erased from its files.
package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/moderato-live/moderato/internal/instant"
)

const (
	manifestName = "manifest.json"
	format       = "moderato-archive-1"
	// unfinished is the end of the name of a file that is being written.
	unfinished = ".new"
)

// Range is a range of times: from one on, and before another.
type Range struct {
	From instant.Instant `json:"from"`
	To   instant.Instant `json:"to"`
}

func (r Range) String() string { return r.From.String() + " to " + r.To.String() }

// Event is a line of a file.
type Event struct {
	ID        string `json:"id"`
	ChannelID string `json:"channelId"`
	Sequence  int64  `json:"sequence"`
	// Position is null if the event had none when the archive was written.
	Position   *int64  `json:"position"`
	Type       string  `json:"type"`
	OccurredAt string  `json:"occurredAt"`
	ActorID    *string `json:"actorId"`
	TargetID   *string `json:"targetId"`
	ClientID   string  `json:"clientId"`
	RequestID  string  `json:"requestId"`
	// Payload is what listeners received, and Evidence the messages that the log keeps.
	Payload  json.RawMessage `json:"payload"`
	Evidence json.RawMessage `json:"evidence"`
}

// manifest describes an archive. It is replaced whenever a file is complete.
type manifest struct {
	Format string `json:"format"`
	Range
	// IsComplete reports that the files have all events of the range.
	IsComplete bool    `json:"isComplete"`
	Files      []*file `json:"files"`
}

// file is a complete file of an archive.
type file struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Events int64  `json:"events"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	// LastAt and LastID are the time and id of the last event that was written.
	LastAt instant.Instant `json:"lastAt"`
	LastID string          `json:"lastId"`
}

// directory is an archive that this process has locked.
type directory struct {
	path     string
	lock     *os.File
	manifest *manifest // nil if there is none
}

// open locks a directory, reads its manifest, and completes what an interrupted command left.
func open(path string) (*directory, error) {
	lock, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	d := &directory{path: path, lock: lock}
	if err := d.read(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return d, nil
}

func (d *directory) close() { _ = d.lock.Close() }

func (d *directory) read() error {
	if err := syscall.Flock(int(d.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil { //nolint:gosec // a file descriptor
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf("%s: another command works on this archive", d.path)
		}
		return fmt.Errorf("lock %s: %w", d.path, err)
	}
	text, err := os.ReadFile(d.file(manifestName))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	m := &manifest{}
	if err := json.Unmarshal(text, m); err != nil || m.Format != format {
		return fmt.Errorf("%s is not the manifest of an archive that this version reads", d.file(manifestName))
	}
	d.manifest = m
	return d.recover()
}

// recover renames the files that were complete, and listed in the manifest, before a command was
// interrupted. It removes the unfinished ones.
func (d *directory) recover() error {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name, isUnfinished := strings.CutSuffix(e.Name(), unfinished)
		if !isUnfinished {
			continue
		}
		sum, _, err := sumOf(d.file(e.Name()))
		if err != nil {
			return err
		}
		if f := d.find(name); f != nil && sum == f.SHA256 {
			err = os.Rename(d.file(e.Name()), d.file(name))
		} else {
			err = os.Remove(d.file(e.Name()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *directory) file(name string) string { return filepath.Join(d.path, name) }

func (d *directory) find(name string) *file {
	if d.manifest == nil {
		return nil
	}
	if i := slices.IndexFunc(d.manifest.Files, func(f *file) bool { return f.Name == name }); i >= 0 {
		return d.manifest.Files[i]
	}
	return nil
}

// save replaces the manifest.
func (d *directory) save() error {
	text, err := json.MarshalIndent(d.manifest, "", "  ")
	if err != nil {
		return err
	}
	w, err := d.create(manifestName)
	if err != nil {
		return err
	}
	if _, err := w.Write(append(text, '\n')); err != nil {
		return errors.Join(err, w.abandon())
	}
	if err := w.finish(); err != nil {
		return err
	}
	return d.rename(manifestName)
}

// rename puts a file that was written in its place.
func (d *directory) rename(name string) error {
	if err := os.Rename(d.file(name+unfinished), d.file(name)); err != nil {
		return err
	}
	return d.lock.Sync()
}

// sumOf returns the checksum and the size of a file.
func sumOf(path string) (sum string, size int64, err error) {
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = f.Close() }()
	digest := sha256.New()
	size, err = io.Copy(digest, f)
	return hex.EncodeToString(digest.Sum(nil)), size, err
}
