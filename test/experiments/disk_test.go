package experiments_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestFullDiskRejectsChangesAndServesReads fills the disk under an embedded database under
// load. While it is full, changes fail with UNAVAILABLE and reads succeed; with free space,
// changes succeed again.
func TestFullDiskRejectsChangesAndServesReads(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", disk).CombinedOutput(); err != nil {
		err = &skipError{"no file system can be mounted: " + strings.TrimSpace(string(out))}
		if isSoak() {
			t.Fatal(err)
		}
		storetest.Announce(err) // a container, also in CI, may not be allowed to mount
		t.Skip(err)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", disk).Run() })
	s := newSite(t, store.URL{Path: filepath.Join(disk, "moderato.db")}, options{servers: 1, channels: 20})
	owner := s.channels[0]
	subscribers := subscribe(t, s)
	l := startLoad(t, s, 100)
	l.untilAcknowledged(20)

	filler := filepath.Join(disk, "filler")
	fill(t, filler)
	status, text, header := 0, "", http.Header{}
	for i := range 1000 { // until the free pages of the database are used up; the same title again would write nothing
		if status, text, header = s.request(owner, http.MethodPost, "/v1/channels/info", fmt.Sprintf(`{"title":"%0100d","lang":"en"}`, i)); status != http.StatusOK {
			break
		}
	}
	if status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" {
		t.Errorf("a full disk: got %d, %s", status, text)
	}
	if !eventually(patience, func() bool { return l.count()["UNAVAILABLE"] > 0 }) {
		t.Errorf("a full disk: got %v, want UNAVAILABLE", l.count())
	}
	s.whileFull(owner, scaled(time.Second, 30*time.Second))
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if status, text, _ := s.request(owner, http.MethodPost, "/v1/moderation/ban", `{"channelId":"`+owner.String()+`","banUserId":"`+servertest.Raider.String()+`"}`); status != http.StatusOK {
		t.Errorf("with room again: got %d, %s", status, text)
	}
	took := l.untilAcknowledged(10)
	t.Logf("changes were acknowledged %s after there was room again", took.Round(time.Millisecond))
	if took > within(servingWithin) {
		t.Errorf("no change was acknowledged within %s after there was room again", servingWithin)
	}
	l.end()
	l.wantOnly("UNAVAILABLE", "OVERLOADED", "IDEMPOTENCY_KEY_IN_USE")
	s.check(l, subscribers)
}

// whileFull reads and changes a channel on a full disk. Each read must succeed, and a change
// that is refused must say when to repeat it. Some changes still find a free page.
func (s *site) whileFull(owner uid.ID, lasts time.Duration) {
	s.t.Helper()
	reads, refused := 0, 0
	for end := time.Now().Add(lasts); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if status, text, _ := s.request(owner, http.MethodGet, "/v1/moderation/moderators?channelId="+owner.String(), ""); status != http.StatusOK {
			s.t.Errorf("a read on a full disk: got %d, %s", status, text)
		}
		reads++
		status, text, header := s.request(owner, http.MethodPost, "/v1/channels/info", `{"title":"`+strings.Repeat("y", 100)+`","lang":"en"}`)
		if status == http.StatusOK {
			continue
		}
		if status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" {
			s.t.Errorf("a change on a full disk: got %d, %s, with Retry-After %q", status, text, header.Get("Retry-After"))
		}
		refused++
	}
	s.t.Logf("while the disk was full, %d reads succeeded, and %d changes beside the load were refused", reads, refused)
}

// skipError says why an experiment is skipped.
type skipError struct{ reason string }

func (e *skipError) Error() string { return e.reason }

// request sends a request of the test itself, as the owner of a channel. Its events are no
// operations of the load.
func (s *site) request(owner uid.ID, method, path, body string) (status int, text string, header http.Header) {
	s.t.Helper()
	c := s.owners[owner]
	r, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.REST+path, strings.NewReader(body))
	s.must(err)
	r.Header.Set("Authorization", "Bearer "+c.Token)
	r.Header.Set("client-id", c.ClientID)
	r.Header.Set("X-Request-Id", ownRequest)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(r)
	s.must(err)
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	s.must(err)
	return response.StatusCode, string(answer), response.Header
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
