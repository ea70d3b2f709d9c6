package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/metadata"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestBanReachesListenersOfOtherReplica runs two processes on one database. Events of one
// process must reach a gRPC stream, an SSE listener and a webhook receiver of the other,
// and each must resume from the cursor that it received.
func TestBanReachesListenersOfOtherReplica(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		token := ownerToken(t, prepare(t, url))
		a, b := process.Serve(t, url, "--webhook-allow-private"), process.Serve(t, url, "--webhook-allow-private")
		change := func(method, path, body string) { t.Helper(); rest(t, a, token, method, path, body) }

		listeners := map[string]eventListener{"watcher": watch(t, b, token, ""), "SSE": watchSSE(t, b, token, ""), "webhook": receiveJSON(t, b, token)}
		change(http.MethodPost, "/v1/moderation/ban", banOfRaider)
		cursors := map[string]string{}
		for name, l := range listeners {
			ban := l.want(t, name, "channel.ban", 1)
			cleared := l.want(t, name, "channel.chat.clear_user_messages", 2)
			if ban.Cursor == "" || cleared.Cursor == "" || cleared.Cursor == ban.Cursor {
				t.Errorf("%s: the cursors are %q and %q", name, ban.Cursor, cleared.Cursor)
			}
			cursors[name] = ban.Cursor
			l.stop()
		}

		// While there are no listeners.
		change(http.MethodDelete, "/v1/moderation/ban", banOfRaider)
		listeners = map[string]eventListener{
			"watcher": watch(t, b, token, cursors["watcher"]),
			"SSE":     watchSSE(t, b, token, cursors["SSE"]),
			"webhook": watch(t, b, token, cursors["webhook"]),
		}
		for name, l := range listeners {
			l.want(t, name, "channel.chat.clear_user_messages", 2)
			l.want(t, name, "channel.unban", 3)
		}
		change(http.MethodPost, "/v1/channels/info", `{"title":"While all listen","lang":"en"}`)
		change(http.MethodPost, "/v1/moderation/ban", banOfRaider)
		for name, l := range listeners {
			l.want(t, name, "channel.update", 4)
			l.want(t, name, "channel.ban", 5)
			l.want(t, name, "channel.chat.clear_user_messages", 6)
			l.stop()
		}
	})
}

// receivedEvent is an event as a listener received it.
type receivedEvent struct {
	Cursor   string
	Metadata struct {
		SubscriptionType string
		Sequence         int64
	}
}

// eventListener is a listener of a test.
type eventListener struct {
	events <-chan receivedEvent
	stop   func()
}

// want checks the next event.
func (h eventListener) want(t *testing.T, name, kind string, sequence int64) receivedEvent {
	t.Helper()
	select {
	case e, ok := <-h.events:
		if !ok || e.Metadata.SubscriptionType != kind || e.Metadata.Sequence != sequence {
			t.Fatalf("%s: received %+v (%t), want %s with the sequence %d", name, e, ok, kind, sequence)
		}
		return e
	case <-time.After(patience):
		t.Fatalf("%s: received nothing, want %s", name, kind)
		return receivedEvent{}
	}
}

// watch opens a gRPC stream, and returns once it is open.
func watch(t *testing.T, p *process.Server, token, cursor string) eventListener {
	t.Helper()
	conn := p.Dial(t)
	ctx, cancel := context.WithCancel(metadata.AppendToOutgoingContext(t.Context(),
		authn.AuthorizationKey, "Bearer "+token, authn.ClientIDKey, servertest.Dashboard))
	stop := func() { cancel(); _ = conn.Close() }
	t.Cleanup(stop)
	stream, err := moderatov1.NewEventsServiceClient(conn).WatchEvents(ctx, &moderatov1.WatchEventsRequest{Cursor: cursor})
	if err == nil {
		_, err = stream.Recv() // the first message: from here on, no event is missed
	}
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan receivedEvent, 100)
	go func() {
		defer close(got)
		for {
			m, err := stream.Recv()
			if err != nil {
				return
			}
			if m.GetEvent() != nil {
				got <- parseEvent(m.GetCursor(), outbox.JSON(m.GetEvent()))
			}
		}
	}()
	return eventListener{got, stop}
}

// watchSSE is watch over HTTP.
func watchSSE(t *testing.T, p *process.Server, token, lastEventID string) eventListener {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.REST+"/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("client-id", servertest.Dashboard)
	if lastEventID != "" {
		r.Header.Set("Last-Event-ID", lastEventID)
	}
	response, err := http.DefaultClient.Do(r) //nolint:bodyclose // by who reads it, below
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(response.Body)
	for lines.Text() != ": listening" {
		if !lines.Scan() {
			t.Fatalf("the stream does not begin: %s", response.Status)
		}
	}
	got := make(chan receivedEvent, 100)
	go func() {
		defer close(got)
		defer func() { _ = response.Body.Close() }()
		cursor := ""
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "id":
				cursor = value
			case "data":
				got <- parseEvent(cursor, []byte(value))
			}
		}
	}()
	return eventListener{got, cancel}
}

// receiveJSON starts a receiver of webhooks.
func receiveJSON(t *testing.T, p *process.Server, token string) eventListener {
	t.Helper()
	l, _ := receiving(t, p, token, "--json")
	got := make(chan receivedEvent, 100)
	go func() {
		defer close(got)
		for line := range l.lines {
			got <- parseEvent("", []byte(line))
		}
	}()
	return eventListener{got, func() { l.signal(syscall.SIGINT) }}
}

// parseEvent parses an event; an invalid event becomes one that no test expects.
func parseEvent(cursor string, text []byte) receivedEvent {
	e := receivedEvent{Cursor: cursor}
	if err := json.Unmarshal(text, &e); err != nil {
		e.Metadata.SubscriptionType = err.Error()
	}
	return e
}
