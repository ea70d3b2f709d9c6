package abuse_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/servertest/process"
)

// TestSlowReadersOfLongListDoNotDelayOthers has clients request a long list without
// reading it. The server buffers little for each, other callers are served, and a client
// that continues to read receives the whole list. The memory figure applies to a soak: a
// smaller load does not show the effect.
func TestSlowReadersOfLongListDoNotDelayOthers(t *testing.T) {
	const maxMiB = 150
	readers, rows := scaled(10, 100), scaled(3000, 49_999)
	each(t, func(t *testing.T, s *target) {
		s.addModerators(t, rows)
		idle := s.AnonymousMemory(t)
		path := "/v1/moderation/moderators?channelId=" + servertest.Other.String()
		slow := make([]*slowReader, readers)
		for i := range slow {
			slow[i] = s.readSlowly(t, s.as(t, servertest.Viewer), path, []string{"identity", "gzip"}[i%2])
		}
		var most int64
		watched := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			defer close(watched)
			for ; ctx.Err() == nil; sleep(ctx, 50*time.Millisecond) {
				most = max(most, s.AnonymousMemory(t))
			}
		}()
		took := s.probe(t, s.as(t, servertest.Other), scaled(time.Second, 10*time.Second))
		var group sync.WaitGroup
		for i, r := range slow {
			if i >= readers/3 { // these never read
				defer func() { _ = r.Close() }()
				continue
			}
			group.Go(func() {
				if got, err := r.count(`"slug":"u`); err != nil || got != rows {
					t.Errorf("a reader that continues: got %d rows and %v, want %d", got, err, rows)
				}
			})
		}
		group.Wait()
		cancel()
		<-watched
		t.Logf("%d readers of %d rows: %d MiB of anonymous memory, %d before; other reads: p99 %s",
			readers, rows, most>>20, idle>>20, process.Percentile(took, .99))
		if isSoak() && most>>20 >= maxMiB {
			t.Errorf("got %d MiB of anonymous memory, want less than %d", most>>20, maxMiB)
		}
	})
}

// addModerators adds moderators to Other's channel.
func (s *target) addModerators(t *testing.T, n int) {
	t.Helper()
	users := servertest.AddUsers(t, s.store, n)
	records := make([]*platformv1.Record, n)
	for i, id := range users {
		records[i] = &platformv1.Record{Kind: &platformv1.Record_Role{Role: &platformv1.RoleRecord{
			ChannelId: servertest.Other.String(), UserId: id.String(), Role: "moderator",
		}}}
	}
	servertest.Import(t, s.store, records...)
}

// slowReader is a client that has sent a request and does not read the response.
type slowReader struct {
	net.Conn

	r *http.Request
}

func (s *target) readSlowly(t *testing.T, c servertest.Credentials, path, encoding string) *slowReader {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.REST)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).SetReadBuffer(32 << 10); err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.REST+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.Token)
	r.Header.Set("client-id", c.ClientID)
	r.Header.Set("Accept-Encoding", encoding)
	if err := r.Write(conn); err != nil {
		t.Fatal(err)
	}
	return &slowReader{conn, r}
}

// count reads the rest, and returns how often a text occurs in the response.
func (r *slowReader) count(text string) (int, error) {
	defer func() { _ = r.Close() }()
	response, err := http.ReadResponse(bufio.NewReader(r), r.r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := decoded(response)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, body)
	}
	return strings.Count(body, text), err
}

func decoded(response *http.Response) (string, error) {
	reader := io.Reader(response.Body)
	if response.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(reader)
		if err != nil {
			return "", err
		}
		reader = unzipped
	}
	body, err := io.ReadAll(reader)
	return string(body), err
}
