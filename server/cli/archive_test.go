package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/event/outbox/outboxtest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestArchiveCommands runs the commands on a database without events, on a bad range and on a file
// that is no archive.
func TestArchiveCommands(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	if got := process.Run(t, nil, "", "migrate", process.DBFlag(url)); got.Code != 0 {
		t.Fatal(got.Err)
	}
	dir, today := filepath.Join(t.TempDir(), "events"), time.Now().UTC().Format(time.DateOnly)
	for _, c := range []struct {
		line, want string
		code       int
	}{
		{"write " + dir + " --from 2026-01-01 --to " + today + " " + process.DBFlag(url), "archived 0 events", 0},
		{"write " + dir + " --from 2026-01-01 --to " + today + " " + process.DBFlag(url), "the archive is complete", 0},
		{"write " + dir + " --from 2026-01-02 --to " + today + " " + process.DBFlag(url), "choose another directory", 1},
		{"write " + dir + " --from 2026-01-01 --to 2999-01-01 " + process.DBFlag(url), "the latest possible end is", 1},
		{"verify " + dir, "0 events are as they were written", 0},
		{"verify " + filepath.Dir(dir), "is not an archive", 1},
		{"erase " + servertest.Viewer.String() + " " + filepath.Join(dir, "manifest.json"), "is not in the manifest", 1},
	} {
		got := process.Run(t, nil, "", append([]string{"archive"}, strings.Fields(c.line)...)...)
		if got.Code != c.code || !strings.Contains(got.Err, c.want) {
			t.Errorf("%s: exit code %d, want %d and %q: %s", c.line, got.Code, c.code, c.want, got.Err)
		}
	}
	if info := storetest.Must(os.Stat(dir)); info.Mode().Perm() != 0o700 {
		t.Errorf("the directory has the mode %s", info.Mode())
	}
}

// TestDocumentedArchive runs the documented commands on events of the documented month.
func TestDocumentedArchive(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	storetest.Migrate(t, url)
	s, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	servertest.Import(t, s, servertest.World()...)
	if err := outboxtest.Emit(s, servertest.Owner, 3); err != nil {
		t.Fatal(err)
	}
	at := instant.Of(time.Date(2026, 9, 15, 12, 0, 0, 0, time.UTC))
	if _, err := s.DB().Exec("UPDATE events SET occurred_at = ?", at); err != nil {
		t.Fatal(err)
	}
	user := regexp.MustCompile(`[0-9a-f-]{36}`)
	commands := block(t, "docs/retention.md: Archives/1") + user.ReplaceAllString(block(t, "docs/retention.md: Archives/2"), servertest.Viewer.String())
	workplace := demoDirectory(t)
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", commands)
	cmd.Dir = workplace
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(workplace, "bin")+":"+os.Getenv("PATH"), "MODERATO_DB="+strings.TrimPrefix(process.DBFlag(url), "--db="))
	out, err := cmd.CombinedOutput()
	for _, want := range []string{"archived 3 events in ", "3 events are as they were written", "channel.chat.clear_user_messages-0001.jsonl: 3 events changed, 0 removed"} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%v, want %q: %s", err, want, out)
		}
	}
}
