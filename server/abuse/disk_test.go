package abuse_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
)

// TestFullDiskRejectsChangesAndServesReads fills the disk under an embedded database.
// While it is full, changes fail with UNAVAILABLE and reads succeed; with free space,
// changes succeed again.
func TestFullDiskRejectsChangesAndServesReads(t *testing.T) {
	if !isSoak() {
		t.Skip("only as a soak, because it mounts a file system; the errors are tested in server/store")
	}
	disk := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", disk).CombinedOutput(); err != nil {
		t.Skipf("no file system can be mounted here: %v, %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", disk).Run() })
	s := serve(t, store.URL{Path: filepath.Join(disk, "moderato.db")})
	owner := s.as(t, servertest.Owner)
	ban := func() (int, string, http.Header) {
		user := servertest.Raider.String()
		return s.answer(t, owner, "POST", "/v1/moderation/ban", `{"channelId":"`+servertest.Owner.String()+`","banUserId":"`+user+`"}`)
	}
	filler := filepath.Join(disk, "filler")
	fill(t, filler)
	status, text, header := 0, "", http.Header{}
	for range 1000 { // until the free pages of the database are used up
		if status, text, header = s.answer(t, owner, "POST", "/v1/channels/info", `{"title":"`+strings.Repeat("x", 100)+`","lang":"en"}`); status != http.StatusOK {
			break
		}
	}
	if status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" {
		t.Errorf("a full disk: got %d, %s", status, text)
	}
	if status, text, _ := s.answer(t, owner, "GET", "/v1/moderation/moderators?channelId="+servertest.Owner.String(), ""); status != http.StatusOK {
		t.Errorf("a read on a full disk: got %d, %s", status, text)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if status, text, _ := ban(); status != http.StatusOK {
		t.Errorf("with room again: got %d, %s", status, text)
	}
	s.wantConsistent(t)
}

// fill writes a file until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
}
