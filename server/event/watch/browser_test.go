package watch_test

import (
	"bufio"
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

const allowedOrigin = "https://dash.example.com"

// startWithCORS starts a server that web pages of allowedOrigin may call.
func startWithCORS(t *testing.T) *servertest.Server {
	t.Helper()
	c := servertest.Config(storetest.SQLite(t))
	c.CORSOrigins = []string{allowedOrigin}
	s := servertest.Start(t, c)
	s.Load(t, servertest.World()...)
	return s
}

// TestCORSPreflightOfEvents sends the preflight requests that a browser sends before it opens
// a stream with headers, and before it reconnects.
func TestCORSPreflightOfEvents(t *testing.T) {
	t.Parallel()
	s := startWithCORS(t)
	for _, headers := range []string{"authorization,client-id", "authorization,client-id,last-event-id"} {
		for origin, want := range map[string]string{allowedOrigin: allowedOrigin, "https://evil.example": ""} {
			r := s.Request(t, servertest.Credentials{}, http.MethodOptions, "/v1/events", "")
			r.Header.Set("Origin", origin)
			r.Header.Set("Access-Control-Request-Method", http.MethodGet)
			r.Header.Set("Access-Control-Request-Headers", headers)
			got := s.Do(t, r)
			if got.Status != http.StatusNoContent || got.Header.Get("Access-Control-Allow-Origin") != want {
				t.Errorf("headers %s, origin %s: got status %d and Access-Control-Allow-Origin %q, want 204 and %q", headers, origin, got.Status, got.Header.Get("Access-Control-Allow-Origin"), want)
			}
			allowed := strings.FieldsFunc(strings.ToLower(got.Header.Get("Access-Control-Allow-Headers")), func(r rune) bool { return r == ',' || r == ' ' })
			for _, name := range strings.Split(headers, ",") {
				if slices.Contains(allowed, name) != (want != "") {
					t.Errorf("headers %s, origin %s: got the allowed headers %q; want %s allowed: %t", headers, origin, allowed, name, want != "")
				}
			}
		}
	}
}

// TestSSEHeadersAndFirstFrame checks the response headers, and that the first frame has a
// cursor and the delay before a reconnect.
func TestSSEHeadersAndFirstFrame(t *testing.T) {
	t.Parallel()
	s := startWithCORS(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := s.Request(t, s.As(t, servertest.Owner), http.MethodGet, "/v1/events", "").WithContext(ctx)
	r.Header.Set("Origin", allowedOrigin)
	r.Header.Set("Accept", "text/event-stream")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no",
		"Access-Control-Allow-Origin": allowedOrigin, "Vary": "Origin",
	} {
		if got := response.Header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	var frame []string
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() && lines.Text() != "" {
		frame = append(frame, lines.Text())
	}
	if len(frame) != 3 || !strings.HasPrefix(frame[0], "id: ") || frame[1] != "retry: 2000" || !strings.HasPrefix(frame[2], ":") {
		t.Errorf("first frame: got %q, want id, retry and a comment", frame)
	}
}

// TestSSEReconnectResumesFromLastEventID reconnects as browsers do, and as the EventSource
// polyfill does: with the original URL, and the last id in a header or a parameter.
func TestSSEReconnectResumesFromLastEventID(t *testing.T) {
	t.Parallel()
	s := startWithCORS(t)
	owner := s.As(t, servertest.Owner)
	w := watchSSE(t, s, owner, &moderatov1.WatchEventsRequest{})
	ban(t, s, servertest.Owner, servertest.Raider)
	first, second := w.next(t), w.next(t)
	w.stop()
	unban(t, s, servertest.Owner, servertest.Raider)
	for name, connect := range map[string]func(r *http.Request){
		"header":    func(r *http.Request) { r.Header.Set("Last-Event-ID", second.cursor) },
		"parameter": func(r *http.Request) { r.URL.RawQuery += "&lastEventId=" + second.cursor },
		"header and parameter": func(r *http.Request) {
			r.Header.Set("Last-Event-ID", second.cursor)
			r.URL.RawQuery += "&lastEventId=" + first.cursor
		},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		r := s.Request(t, owner, http.MethodGet, "/v1/events?cursor="+first.cursor, "").WithContext(ctx)
		connect(r)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		messages := make(chan message, 1000)
		go readFrames(response, messages)
		if got := started(t, messages, cancel).next(t); got.kind() != "channel.unban" {
			t.Errorf("%s: got %s, want the event after the last id", name, got.kind())
		}
		cancel()
		_ = response.Body.Close()
	}
}
