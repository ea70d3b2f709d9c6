package erasure_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moderato-live/moderato/server/event/archive"
	"github.com/moderato-live/moderato/test/storetest"
)

// archived returns the lines of an archive of all events, by file, without empty files.
func archived(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, path := range storetest.Must(filepath.Glob(filepath.Join(dir, "*.jsonl"))) {
		if text := string(storetest.Must(os.ReadFile(path))); text != "" {
			files[filepath.Base(path)] = text
		}
	}
	return files
}

// TestErasureOfArchiveIsThatOfDatabase erases a user from an archive, and compares it with an
// archive that is written after the erasure of the user from the database.
func TestErasureOfArchiveIsThatOfDatabase(t *testing.T) {
	eachScene(t, func(t *testing.T, s *scene) {
		s.live(walter)
		s.live(vera)
		s.settle()
		before, after := filepath.Join(t.TempDir(), "before"), filepath.Join(t.TempDir(), "after")
		of := archive.Range{To: s.Store.Clock.Local().Add(-2 * time.Minute)}
		write := func(dir string) {
			t.Helper()
			if _, err := (&archive.Archiver{Store: s.Store}).Write(t.Context(), dir, of); err != nil {
				t.Fatal(err)
			}
		}
		write(before)
		s.deleteUser(vera)
		erase(t, s.Store)
		write(after)
		var done archive.Erased
		for name := range archived(t, before) {
			n, err := archive.Erase(filepath.Join(before, name), vera.id)
			if err != nil {
				t.Fatal(err)
			}
			done.Changed, done.Removed = done.Changed+n.Changed, done.Removed+n.Removed
		}
		if done.Changed < 10 || done.Removed < 10 {
			t.Errorf("only %v events were changed and removed", done)
		}
		if diff := cmp.Diff(archived(t, after), archived(t, before)); diff != "" {
			t.Errorf("the archive (-of the database after its erasure +after its own):\n%s", diff)
		}
		if _, err := archive.Verify(before, func(d string) { t.Error(d) }); err != nil {
			t.Error(err)
		}
		for name, text := range archived(t, before) {
			if strings.Contains(text, vera.id.String()) {
				t.Errorf("%s has the id of the user", name)
			}
		}
	})
}
