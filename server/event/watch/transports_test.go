package watch_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/test/servertest"
)

// patience is how long a test waits for an expected message.
const patience = 20 * time.Second

// message is a message of a stream of either transport.
type message struct {
	cursor string
	event  map[string]any // nil for a heartbeat
	reason string         // why the stream ended
	missed int64          // how many live events were lost
}

// kind returns the event's type, or why the stream ended.
func (m message) kind() string {
	if m.event == nil {
		return m.reason
	}
	return m.event["metadata"].(map[string]any)["subscriptionType"].(string)
}

// watcher is an open stream.
type watcher struct {
	messages <-chan message
	stop     func()
}

// next returns the next message with an event, or the one that ends the stream.
func (w watcher) next(t *testing.T) message {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case m := <-w.messages:
			if m.event != nil || m.reason != "" {
				return m
			}
		case <-deadline:
			t.Fatalf("got neither an event nor the end of the stream within %s", patience)
		}
	}
}

// transport opens a stream, and returns once the server has started it.
type transport func(t *testing.T, s *servertest.Server, c servertest.Credentials, req *moderatov1.WatchEventsRequest) watcher

var transports = map[string]transport{"gRPC": watchGRPC, "SSE": watchSSE}

// started waits for the first message: the stream delivers every later event.
func started(t *testing.T, messages <-chan message, stop func()) watcher {
	t.Helper()
	t.Cleanup(stop)
	first := make(chan message, 1)
	w := watcher{messages: messages, stop: stop}
	select {
	case m := <-messages:
		if m.reason != "" {
			first <- m
			return watcher{messages: first, stop: stop}
		}
		if m.cursor == "" || m.event != nil {
			t.Errorf("first message: got %+v, want only a cursor", m)
		}
	case <-time.After(patience):
		t.Fatalf("got no first message within %s", patience)
	}
	return w
}

func watchGRPC(t *testing.T, s *servertest.Server, c servertest.Credentials, req *moderatov1.WatchEventsRequest) watcher {
	t.Helper()
	return watchOver(t, s.Conn, c, req, make(chan message, 1000))
}

// watchOver opens a gRPC stream over conn, and sends what it receives to messages.
func watchOver(t *testing.T, conn *grpc.ClientConn, c servertest.Credentials, req *moderatov1.WatchEventsRequest, messages chan message) watcher {
	t.Helper()
	ctx, cancel := context.WithCancel(c.Context())
	stream, err := moderatov1.NewEventsServiceClient(conn).WatchEvents(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			response, err := stream.Recv()
			if err != nil {
				messages <- message{reason: reasonOf(err)}
				return
			}
			m := message{cursor: response.GetCursor(), missed: response.GetMissedMessages()}
			if response.GetEvent() != nil {
				_ = json.Unmarshal(outbox.JSON(response.GetEvent()), &m.event)
			}
			messages <- m
		}
	}()
	return started(t, messages, cancel)
}

func reasonOf(err error) string {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return err.Error()
}

func watchSSE(t *testing.T, s *servertest.Server, c servertest.Credentials, req *moderatov1.WatchEventsRequest) watcher {
	t.Helper()
	return watchThrough(t, http.DefaultClient, s, c, req, make(chan message, 1000))
}

// watchThrough opens an SSE stream with client, and sends what it receives to messages.
func watchThrough(t *testing.T, client *http.Client, s *servertest.Server, c servertest.Credentials, req *moderatov1.WatchEventsRequest, messages chan message) watcher {
	t.Helper()
	query := url.Values{"type[]": req.GetType()}
	if req.GetChannelId() != "" {
		query.Set("channelId", req.GetChannelId())
	}
	r := s.Request(t, c, http.MethodGet, "/v1/events?"+query.Encode(), "")
	if req.GetCursor() != "" {
		r.Header.Set("Last-Event-ID", req.GetCursor())
	}
	ctx, cancel := context.WithCancel(context.Background())
	response, err := client.Do(r.WithContext(ctx)) //nolint:bodyclose // the goroutine below closes it
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer func() { _ = response.Body.Close() }()
		if response.StatusCode != http.StatusOK {
			messages <- message{reason: codeOf(json.NewDecoder(response.Body))}
			return
		}
		readFrames(response, messages)
	}()
	return started(t, messages, cancel)
}

func codeOf(d *json.Decoder) string {
	var body struct{ Data struct{ Code string } }
	if err := d.Decode(&body); err != nil {
		return err.Error()
	}
	return body.Data.Code
}

// readFrames parses Server-Sent Events like a browser.
func readFrames(response *http.Response, messages chan<- message) {
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	var m message
	kind, data := "", ""
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			m.cursor = value
		case "event":
			kind = value
		case "data":
			data = value
		case "":
			if lines.Text() != "" {
				continue // a comment
			}
			switch {
			case kind == "missed":
				var body struct{ MissedMessages int64 }
				_ = json.Unmarshal([]byte(data), &body)
				m.missed = body.MissedMessages
			case kind == "end":
				m.reason = codeOf(json.NewDecoder(strings.NewReader(data)))
			case data != "":
				_ = json.Unmarshal([]byte(data), &m.event)
			}
			messages <- m
			m, kind, data = message{}, "", ""
		}
	}
	messages <- message{reason: "closed"}
}

func ban(t *testing.T, s *servertest.Server, channel, user uid.ID) {
	t.Helper()
	r := s.REST(t, s.As(t, channel), http.MethodPost, "/v1/moderation/ban", fmt.Sprintf(`{"channelId":%q,"banUserId":%q}`, channel, user))
	if r.Status != http.StatusOK {
		t.Fatal(r.Body)
	}
}

func unban(t *testing.T, s *servertest.Server, channel, user uid.ID) {
	t.Helper()
	r := s.REST(t, s.As(t, channel), http.MethodDelete, "/v1/moderation/ban", fmt.Sprintf(`{"channelId":%q,"banUserId":%q}`, channel, user))
	if r.Status != http.StatusOK {
		t.Fatal(r.Body)
	}
}

// eachTransport runs a test on every store with each transport.
func eachTransport(t *testing.T, test func(t *testing.T, s *servertest.Server, watch transport)) {
	t.Helper()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for name, watch := range transports {
			t.Run(name, func(t *testing.T) { test(t, s, watch) })
		}
	})
}
