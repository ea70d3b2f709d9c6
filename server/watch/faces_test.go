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
	"github.com/moderato-live/moderato/server/outbox"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/uid"
)

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// heard is a message of a stream on either face.
type heard struct {
	cursor string
	event  map[string]any // nil for a sign of life
	reason string         // why the stream ended
	missed int64          // how many live events were lost
}

// kind is the event's type, or why the stream ended.
func (h heard) kind() string {
	if h.event == nil {
		return h.reason
	}
	return h.event["metadata"].(map[string]any)["subscriptionType"].(string)
}

// watcher is a stream of a test.
type watcher struct {
	messages <-chan heard
	stop     func()
}

// next is the next event, or the end.
func (w watcher) next(t *testing.T) heard {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case m := <-w.messages:
			if m.event != nil || m.reason != "" {
				return m
			}
		case <-deadline:
			t.Fatal("nothing came")
		}
	}
}

// face opens a stream, which is there when it answers.
type face func(t *testing.T, s *servertest.Server, c servertest.Credentials, req *moderatov1.WatchEventsRequest) watcher

var faces = map[string]face{"gRPC": watchGRPC, "SSE": watchSSE}

// started waits for the first message, after which nothing is missed.
func started(t *testing.T, messages <-chan heard, stop func()) watcher {
	t.Helper()
	t.Cleanup(stop)
	first := make(chan heard, 1)
	w := watcher{messages: messages, stop: stop}
	select {
	case m := <-messages:
		if m.reason != "" {
			first <- m
			return watcher{messages: first, stop: stop}
		}
		if m.cursor == "" || m.event != nil {
			t.Errorf("the stream begins with %+v, want a cursor", m)
		}
	case <-time.After(patience):
		t.Fatal("the stream does not begin")
	}
	return w
}

func watchGRPC(t *testing.T, s *servertest.Server, c servertest.Credentials, req *moderatov1.WatchEventsRequest) watcher {
	t.Helper()
	return watchOver(t, s.Conn, c, req, make(chan heard, 1000))
}

// watchOver has the messages of a stream put into a channel.
func watchOver(t *testing.T, conn *grpc.ClientConn, c servertest.Credentials, req *moderatov1.WatchEventsRequest, messages chan heard) watcher {
	t.Helper()
	ctx, cancel := context.WithCancel(c.Context())
	stream, err := moderatov1.NewEventsServiceClient(conn).WatchEvents(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			m, err := stream.Recv()
			if err != nil {
				messages <- heard{reason: reasonOf(err)}
				return
			}
			h := heard{cursor: m.GetCursor(), missed: m.GetMissedMessages()}
			if m.GetEvent() != nil {
				_ = json.Unmarshal(outbox.JSON(m.GetEvent()), &h.event)
			}
			messages <- h
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
	return watchThrough(t, http.DefaultClient, s, c, req, make(chan heard, 1000))
}

// watchThrough has the messages of a stream put into a channel.
func watchThrough(t *testing.T, client *http.Client, s *servertest.Server, c servertest.Credentials, req *moderatov1.WatchEventsRequest, messages chan heard) watcher {
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
	response, err := client.Do(r.WithContext(ctx)) //nolint:bodyclose // by who reads it, below
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer func() { _ = response.Body.Close() }()
		if response.StatusCode != http.StatusOK {
			messages <- heard{reason: codeOf(json.NewDecoder(response.Body))}
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

// readFrames reads Server-Sent Events as a browser does.
func readFrames(response *http.Response, messages chan<- heard) {
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	var h heard
	kind, data := "", ""
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			h.cursor = value
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
				h.missed = body.MissedMessages
			case kind == "end":
				h.reason = codeOf(json.NewDecoder(strings.NewReader(data)))
			case data != "":
				_ = json.Unmarshal([]byte(data), &h.event)
			}
			messages <- h
			h, kind, data = heard{}, "", ""
		}
	}
	messages <- heard{reason: "closed"}
}

func ban(t *testing.T, s *servertest.Server, channel, user uid.ID) {
	t.Helper()
	by := s.As(t, channel)
	r := s.REST(t, by, http.MethodPost, "/v1/moderation/ban", fmt.Sprintf(`{"channelId":%q,"banUserId":%q}`, channel, user))
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

// eachFace runs a test on every store with each kind of stream.
func eachFace(t *testing.T, test func(t *testing.T, s *servertest.Server, watch face)) {
	t.Helper()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for name, watch := range faces {
			t.Run(name, func(t *testing.T) { test(t, s, watch) })
		}
	})
}
