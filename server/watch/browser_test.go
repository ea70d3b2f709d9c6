package watch_test

import (
	"bufio"
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store/storetest"
)

const page = "https://dash.example.com"

// startForPage starts a server that pages of one origin may call.
func startForPage(t *testing.T) *servertest.Server {
	t.Helper()
	c := servertest.Config(storetest.SQLite(t))
	c.CORSOrigins = []string{page}
	s := servertest.Start(t, c)
	s.Load(t, servertest.World()...)
	return s
}

// TestAPageMayOpenAStream asks as a browser does before it opens a stream with
// headers, which it does when it connects again as well.
func TestAPageMayOpenAStream(t *testing.T) {
	s := startForPage(t)
	for _, headers := range []string{"authorization,client-id", "authorization,client-id,last-event-id"} {
		for origin, want := range map[string]string{page: page, "https://evil.example": ""} {
			r := s.Request(t, servertest.Credentials{}, http.MethodOptions, "/v1/events", "")
			r.Header.Set("Origin", origin)
			r.Header.Set("Access-Control-Request-Method", http.MethodGet)
			r.Header.Set("Access-Control-Request-Headers", headers)
			got := s.Do(t, r)
			if got.Status != http.StatusNoContent || got.Header.Get("Access-Control-Allow-Origin") != want {
				t.Errorf("%s for %s: got %d for the origin %q, want %q", headers, origin, got.Status, got.Header.Get("Access-Control-Allow-Origin"), want)
			}
			allowed := strings.FieldsFunc(strings.ToLower(got.Header.Get("Access-Control-Allow-Headers")), func(r rune) bool { return r == ',' || r == ' ' })
			for _, name := range strings.Split(headers, ",") {
				if slices.Contains(allowed, name) != (want != "") {
					t.Errorf("%s for %s: the headers %q are allowed", headers, origin, allowed)
				}
			}
		}
	}
}

// TestAStreamBeginsAsABrowserNeedsIt looks at the header and the first frame: with
// its cursor, and how long to wait before the next connection.
func TestAStreamBeginsAsABrowserNeedsIt(t *testing.T) {
	s := startForPage(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := s.Request(t, s.As(t, servertest.Owner), http.MethodGet, "/v1/events", "").WithContext(ctx)
	r.Header.Set("Origin", page)
	r.Header.Set("Accept", "text/event-stream")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no",
		"Access-Control-Allow-Origin": page, "Vary": "Origin",
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
		t.Errorf("the stream begins with %q", frame)
	}
}

// TestAPageGoesOnWhereItWas connects again as browsers do, and as the polyfill of
// EventSource does: with the address of before, and the last id beside it.
func TestAPageGoesOnWhereItWas(t *testing.T) {
	s := startForPage(t)
	owner := s.As(t, servertest.Owner)
	w := watchSSE(t, s, owner, &moderatov1.WatchEventsRequest{})
	ban(t, s, servertest.Owner, servertest.Raider)
	first, second := w.next(t), w.next(t)
	w.stop()
	unban(t, s, servertest.Owner, servertest.Raider)
	for name, connect := range map[string]func(r *http.Request){
		"the header":    func(r *http.Request) { r.Header.Set("Last-Event-ID", second.cursor) },
		"the parameter": func(r *http.Request) { r.URL.RawQuery += "&lastEventId=" + second.cursor },
		"both": func(r *http.Request) {
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
		messages := make(chan heard, 1000)
		go readFrames(response, messages)
		if got := started(t, messages, cancel).next(t); got.kind() != "channel.unban" {
			t.Errorf("%s: heard %s, want the event after the last one", name, got.kind())
		}
		cancel()
		_ = response.Body.Close()
	}
}
