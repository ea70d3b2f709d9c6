package socketio_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/server/socketio"
)

// TestPollEndsWithItsConnection ends connections while the client polls. The request must
// end: the process and the client wait for it.
func TestPollEndsWithItsConnection(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, server *socketio.Server, path string){
		"the server stops": func(_ *testing.T, server *socketio.Server, _ string) { server.Close() },
		"the client closes": func(t *testing.T, server *socketio.Server, path string) {
			t.Helper()
			request(t, server, http.MethodPost, path, "1")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testPollEnds(t, end)
		})
	}
}

func testPollEnds(t *testing.T, end func(*testing.T, *socketio.Server, string)) {
	t.Helper()
	server := socketio.New(nil, nil, nil, slog.New(slog.DiscardHandler), socketio.Limits{}, prometheus.NewRegistry())
	const path = socketio.Path + "/?EIO=4&transport=polling"
	var opened struct{ SID string }
	first := request(t, server, http.MethodGet, path, "")
	if err := json.Unmarshal([]byte(strings.TrimPrefix(first.Body.String(), "0")), &opened); err != nil {
		t.Fatalf("%d %s: %v", first.Code, first.Body, err)
	}
	poll := path + "&sid=" + opened.SID
	ended := make(chan *httptest.ResponseRecorder, 1)
	go func() { ended <- request(t, server, http.MethodGet, poll, "") }()
	select {
	case poll := <-ended:
		t.Fatalf("the poll does not wait: %d %s", poll.Code, poll.Body)
	case <-time.After(200 * time.Millisecond):
	}
	end(t, server, poll)
	select {
	case poll := <-ended:
		if poll.Code != http.StatusOK || !slices.Contains([]string{"1", "6"}, poll.Body.String()) {
			t.Errorf("the poll ends with %d %q, want a packet that closes or says nothing", poll.Code, poll.Body)
		}
	case <-time.After(5 * time.Second):
		t.Error("the poll does not end")
	}
}

func request(t *testing.T, h http.Handler, method, target, body string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body)))
	return w
}
