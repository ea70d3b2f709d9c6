package socketio_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store/storetest"
)

// TestConnectionHasOneSession joins many times in one request of a connection that polls. A
// session costs two transactions and needs no token, and the limits count connections.
func TestConnectionHasOneSession(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, servertest.Config(storetest.SQLite(t)))
	for range 5 { // the library refuses some of the packets
		joinManyTimes(t, s)
	}
}

func joinManyTimes(t *testing.T, s *servertest.Server) {
	t.Helper()
	const path = "/ws/?EIO=4&transport=polling"
	_, text := get(t, s, path)
	var opened struct{ SID string }
	if err := json.Unmarshal([]byte(strings.TrimPrefix(text, "0")), &opened); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	poll := path + "&sid=" + opened.SID
	joins := strings.TrimSuffix(strings.Repeat("40\x1e", 50), "\x1e")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.HTTPAddr+poll, strings.NewReader(joins))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	for until := time.Now().Add(patience); ; {
		if n := storetest.Must(s.Store.Read.EventSession.Query().Count(t.Context())); n > 1 {
			t.Fatalf("the connection has %d sessions", n)
		}
		if status, text := get(t, s, poll); status != http.StatusOK || strings.HasSuffix(text, "1") {
			break // it is closed
		}
		if time.Now().After(until) {
			t.Fatal("the connection is not closed")
		}
	}
	for until := time.Now().Add(patience); storetest.Must(s.Store.Read.EventSession.Query().Exist(t.Context())); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the session of a closed connection remains")
		}
	}
}
