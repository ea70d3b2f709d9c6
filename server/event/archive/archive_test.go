package archive_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/event/archive"
	"github.com/moderato-live/moderato/server/event/outbox/outboxtest"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// emit writes bans and follows, one of each in a minute, and returns the start of the first minute.
func emit(t *testing.T, s *store.Store, minutes int) instant.Instant {
	t.Helper()
	start := storetest.Must(s.Clock.Now(t.Context(), s.Read))
	for n := range minutes {
		s.Clock.Freeze(start.Add(time.Duration(n) * time.Minute))
		for _, kind := range []eventtype.Type{"channel.ban", "channel.follow"} {
			err := change.ApplyUnattended(t.Context(), s, servertest.Owner, func(_ context.Context, c *change.Change) error {
				c.Emit(kind, servertest.Viewer, outboxtest.Payload(kind))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	s.Clock.Freeze(start.Add(time.Hour))
	outboxtest.Turn(t, outboxtest.NewSequencer(s))
	return start
}

// read returns type and sequence of the events of each file.
func read(t *testing.T, dir string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for _, path := range storetest.Must(filepath.Glob(filepath.Join(dir, "*.jsonl"))) {
		if info := storetest.Must(os.Stat(path)); info.Mode() != 0o600 {
			t.Errorf("%s has the mode %s", path, info.Mode())
		}
		for line := range strings.Lines(string(storetest.Must(os.ReadFile(path)))) {
			var e archive.Event
			if err := json.Unmarshal([]byte(line), &e); err != nil || e.Position == nil || len(e.Payload) < 10 {
				t.Fatalf("%s has the line %s: %v", path, line, err)
			}
			name := filepath.Base(path)
			found[name] = append(found[name], fmt.Sprint(e.Sequence))
		}
	}
	return found
}

// TestArchiveIsContinued interrupts an archive after each file. The next run continues.
func TestArchiveIsContinued(t *testing.T) {
	outboxtest.EachWorld(t, func(t *testing.T, s *store.Store) {
		start := emit(t, s, 6)
		of := archive.Range{From: start.Add(time.Minute), To: start.Add(5 * time.Minute)} // without the first and the last minute
		dir := filepath.Join(t.TempDir(), "events")
		runs := 0
		for done := false; !done; runs++ {
			ctx, stop := context.WithCancel(t.Context())
			a := &archive.Archiver{Store: s, Progress: func(string, int64) { stop() }}
			a.SetMaxEvents(3)
			n, err := a.Write(ctx, dir, of)
			if stop(); err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if done = err == nil; done && n != 8 {
				t.Errorf("archived %d events, want 8", n)
			}
			if _, err := archive.Verify(dir, func(string) {}); (err == nil) != done {
				t.Errorf("run %d: done is %t, and verify says %v", runs, done, err)
			}
			if err := os.WriteFile(filepath.Join(dir, "channel.ban-0002.jsonl.new"), []byte("{"), 0o600); err != nil && !done {
				t.Fatal(err)
			}
			_ = os.Remove(filepath.Join(dir, "channel.follow-0002.jsonl.new"))
		}
		_ = os.Remove(filepath.Join(dir, "channel.ban-0002.jsonl.new"))
		if runs != 5 {
			t.Errorf("%d runs, want one for each file and one more", runs)
		}
		want := map[string][]string{
			"channel.ban-0001.jsonl": {"3", "5", "7"}, "channel.ban-0002.jsonl": {"9"},
			"channel.follow-0001.jsonl": {"4", "6", "8"}, "channel.follow-0002.jsonl": {"10"},
		}
		if diff := cmp.Diff(want, read(t, dir)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if _, err := (&archive.Archiver{Store: s}).Write(t.Context(), dir, of); !errors.Is(err, archive.ErrComplete) {
			t.Errorf("a further run: %v", err)
		}
	})
}

// TestBadArchivesAreRefused gives ranges and directories that cannot be archived.
func TestBadArchivesAreRefused(t *testing.T) {
	outboxtest.EachWorld(t, func(t *testing.T, s *store.Store) {
		start := emit(t, s, 1)
		of := archive.Range{From: start, To: start.Add(time.Minute)}
		dir, other := filepath.Join(t.TempDir(), "events"), t.TempDir()
		if err := os.WriteFile(filepath.Join(other, "letter.txt"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		a := &archive.Archiver{Store: s}
		if _, err := a.Write(t.Context(), dir, of); err != nil {
			t.Fatal(err)
		}
		for want, do := range map[string]func() error{
			"must be later than its start": func() error { _, err := a.Write(t.Context(), dir, archive.Range{From: of.To, To: of.From}); return err },
			"later events can still follow": func() error {
				_, err := a.Write(t.Context(), dir, archive.Range{From: start, To: start.Add(59*time.Minute + time.Second)})
				return err
			},
			"choose another directory for": func() error {
				_, err := a.Write(t.Context(), dir, archive.Range{From: start + 1, To: of.To})
				return err
			},
			"letter.txt, and is no archive": func() error { _, err := a.Write(t.Context(), other, of); return err },
			"no such file":                  func() error { _, err := a.Write(t.Context(), filepath.Join(other, "a", "b"), of); return err },
			"manifest.json is missing":      func() error { _, err := archive.Verify(other, nil); return err },
			"is not in the manifest":        func() error { _, err := archive.Erase(filepath.Join(dir, "x.jsonl"), servertest.Viewer); return err },
		} {
			if err := do(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
	})
}

// TestDamageIsFound changes the files of an archive.
func TestDamageIsFound(t *testing.T) {
	s, start := onSQLite(t)
	for what, c := range map[string]struct {
		damage func(path string) error
		want   string
	}{
		"truncated": {func(path string) error { return os.Truncate(path, 100) }, "channel.ban-0001.jsonl: is truncated: it has 100 bytes"},
		"changed": {func(path string) error {
			text := storetest.Must(os.ReadFile(path))
			text[10] ^= 1
			return os.WriteFile(path, text, 0o600)
		}, "channel.ban-0001.jsonl: does not match the checksum in the manifest"},
		"missing":  {os.Remove, "channel.ban-0001.jsonl: is missing"},
		"together": {func(path string) error { return os.WriteFile(path+".bak", nil, 0o600) }, "channel.ban-0001.jsonl.bak: is not in the manifest"},
	} {
		dir := filepath.Join(t.TempDir(), "events")
		if _, err := (&archive.Archiver{Store: s}).Write(t.Context(), dir, archive.Range{From: start, To: start.Add(time.Minute)}); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "channel.ban-0001.jsonl")
		if err := c.damage(path); err != nil {
			t.Fatal(err)
		}
		var found []string
		if _, err := archive.Verify(dir, func(d string) { found = append(found, d) }); err == nil || len(found) != 1 || !strings.HasPrefix(found[0], c.want) {
			t.Errorf("%s: %v, %q", what, err, found)
		}
		if _, err := archive.Erase(path, servertest.Viewer); what != "together" && err == nil {
			t.Errorf("%s: the file was rewritten", what)
		}
	}
}

// TestInterruptedErasureIsCompleted ends an erasure between the manifest and the file.
func TestInterruptedErasureIsCompleted(t *testing.T) {
	s, start := onSQLite(t)
	dir := filepath.Join(t.TempDir(), "events")
	if _, err := (&archive.Archiver{Store: s}).Write(t.Context(), dir, archive.Range{From: start, To: start.Add(time.Minute)}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "channel.ban-0001.jsonl")
	before := storetest.Must(os.ReadFile(path))
	if done, err := archive.Erase(path, servertest.Viewer); err != nil || done.Changed != 1 {
		t.Fatal(done, err)
	}
	after := storetest.Must(os.ReadFile(path))
	if slices.Equal(before, after) || strings.Contains(string(after), servertest.Viewer.String()) {
		t.Errorf("the file has %s", after)
	}
	if err := errors.Join(os.Rename(path, path+".new"), os.WriteFile(path, before, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Verify(dir, func(d string) { t.Error(d) }); err != nil {
		t.Error(err)
	}
	if got := storetest.Must(os.ReadFile(path)); !slices.Equal(got, after) {
		t.Errorf("the file has %s", got)
	}
	if _, err := os.Stat(path + ".new"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the unfinished file: %v", err)
	}
	if done, err := archive.Erase(path, servertest.Viewer); err != nil || done != (archive.Erased{}) {
		t.Errorf("repeated: %v, %v", done, err)
	}
}

// TestFullDiskDamagesNothing writes to a disk on which the files have place, and the manifest of them
// all has none. Retention removes the events before the next run.
func TestFullDiskDamagesNothing(t *testing.T) {
	if os.Getenv("FULL_DISK") == "" { // the limit applies to a whole process
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		child.Env = append(os.Environ(), "FULL_DISK=1")
		if out, err := child.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	s, start := onSQLite(t)
	emit(t, s, 6)
	dir, of := filepath.Join(t.TempDir(), "events"), archive.Range{From: start, To: start.Add(2 * time.Hour)}
	s.Clock.Freeze(of.To.Add(time.Hour))
	a := &archive.Archiver{Store: s}
	a.SetMaxEvents(1)
	var limit syscall.Rlimit
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 2000, Max: limit.Max}); err != nil {
		t.Fatal(err)
	}
	_, err := a.Write(t.Context(), dir, of)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, syscall.EFBIG) {
		t.Fatalf("the disk is not full: %v", err)
	}
	if _, err := s.DB().ExecContext(t.Context(), "DELETE FROM events"); err != nil {
		t.Fatal(err)
	}
	if n, err := a.Write(t.Context(), dir, of); err != nil || n < 2 {
		t.Errorf("archived %d events: %v", n, err)
	}
	if _, err := archive.Verify(dir, func(d string) { t.Error(d) }); err != nil {
		t.Error(err)
	}
}

// TestInterruptedWriteIsCompleted interrupts a run between the manifest and the file, and another
// one during a file. Retention removes the events before the next run.
func TestInterruptedWriteIsCompleted(t *testing.T) {
	s, start := onSQLite(t)
	dir, of := filepath.Join(t.TempDir(), "events"), archive.Range{From: start, To: start.Add(time.Minute)}
	ctx, stop := context.WithCancel(t.Context())
	_, _ = (&archive.Archiver{Store: s, Progress: func(string, int64) { stop() }}).Write(ctx, dir, of)
	path := filepath.Join(dir, "channel.ban-0001.jsonl")
	if err := errors.Join(os.Rename(path, path+".new"), os.WriteFile(filepath.Join(dir, "channel.follow-0001.jsonl.new"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.DB().ExecContext(t.Context(), "DELETE FROM events"); err != nil {
		t.Fatal(err)
	}
	if n, err := (&archive.Archiver{Store: s}).Write(t.Context(), dir, of); err != nil || n != 1 {
		t.Errorf("archived %d events: %v", n, err)
	}
	if _, err := archive.Verify(dir, func(d string) { t.Error(d) }); err != nil {
		t.Error(err)
	}
}

// onSQLite returns a store with a ban and a follow.
func onSQLite(t *testing.T) (*store.Store, instant.Instant) {
	t.Helper()
	url := storetest.SQLite(t)
	storetest.Migrate(t, url)
	s, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	servertest.Import(t, s, servertest.World()...)
	return s, emit(t, s, 1)
}

// TestArchiveReadsByIndex checks that a page reads no events of other times.
func TestArchiveReadsByIndex(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		s, recorded := storetest.OpenRecorded(t, url)
		servertest.Import(t, s, servertest.World()...)
		start := emit(t, s, 3)
		of := archive.Range{From: start, To: start.Add(time.Minute)}
		if _, err := (&archive.Archiver{Store: s}).Write(t.Context(), filepath.Join(t.TempDir(), "events"), of); err != nil {
			t.Fatal(err)
		}
		isRead := false
		for _, q := range recorded.Sent() {
			if !strings.Contains(q.Text, "evidence FROM events") || strings.Contains(q.Text, "EXPLAIN") {
				continue
			}
			isRead = true
			if plan := storetest.Explain(t, s, q); !strings.Contains(plan, "event_type_occurred_at") || strings.Contains(plan, "filesort") {
				t.Errorf("the plan is %s", plan)
			}
		}
		if !isRead {
			t.Error("no page was read")
		}
	})
}
