package socketio_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/server/socketio"
)

// TestStopEndsPolls stops a server while a client polls. The request must end, because the
// process waits for it.
func TestStopEndsPolls(t *testing.T) {
	t.Parallel()
	server := socketio.New(nil, nil, nil, slog.New(slog.DiscardHandler), socketio.Limits{}, prometheus.NewRegistry())
	const path = socketio.Path + "/?EIO=4&transport=polling"
	var opened struct{ SID string }
	first := request(t, server, path)
	if err := json.Unmarshal([]byte(strings.TrimPrefix(first.Body.String(), "0")), &opened); err != nil {
		t.Fatalf("%d %s: %v", first.Code, first.Body, err)
	}
	ended := make(chan *httptest.ResponseRecorder, 1)
	go func() { ended <- request(t, server, path+"&sid="+opened.SID) }()
	select {
	case poll := <-ended:
		t.Fatalf("the poll does not wait: %d %s", poll.Code, poll.Body)
	case <-time.After(200 * time.Millisecond):
	}
	server.Close()
	select {
	case poll := <-ended:
		if poll.Code != http.StatusOK || poll.Body.String() != "1" {
			t.Errorf("the poll ends with %d %q, want the close packet", poll.Code, poll.Body)
		}
	case <-time.After(5 * time.Second):
		t.Error("the poll does not end")
	}
}

func request(t *testing.T, h http.Handler, target string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody))
	return w
}
