package erasure_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/event/outbox/outboxtest"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
)

// marker is the user who is banned last; the event tells a listener that it has received
// everything.
var marker = servertest.Raider

// listenGRPC returns a function that receives all events from a cursor up to the marker.
func listenGRPC(s *servertest.Server, as servertest.Credentials, cursor string) func(t *testing.T) []string {
	return func(t *testing.T) (received []string) {
		t.Helper()
		stream, err := moderatov1.NewEventsServiceClient(s.Conn).WatchEvents(as.Context(), &moderatov1.WatchEventsRequest{Cursor: cursor})
		for err == nil {
			var m *moderatov1.WatchEventsResponse
			if m, err = stream.Recv(); m.GetEvent() == nil {
				continue
			}
			received = append(received, string(outbox.JSON(m.GetEvent())))
			if isMarker(received) {
				return received
			}
		}
		t.Fatal(err)
		return nil
	}
}

// listenSSE is listenGRPC over Server-Sent Events.
func listenSSE(s *servertest.Server, as servertest.Credentials, cursor string) func(t *testing.T) []string {
	return func(t *testing.T) (received []string) {
		t.Helper()
		response, err := http.DefaultClient.Do(s.Request(t, as, http.MethodGet, "/v1/events?cursor="+cursor, ""))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			if data, isData := strings.CutPrefix(lines.Text(), "data: "); isData {
				if received = append(received, data); isMarker(received) {
					return received
				}
			}
		}
		t.Fatalf("the stream ends after %q", received)
		return nil
	}
}

func isMarker(received []string) bool {
	last := received[len(received)-1]
	return strings.Contains(last, "channel.ban") && strings.Contains(last, marker.String())
}

// TestListenersReceiveNothingOfDeletedUsers has two servers that hold the events of a
// user in memory, because they have listeners.
func TestListenersReceiveNothingOfDeletedUsers(t *testing.T) {
	eachScene(t, func(t *testing.T, s *scene) {
		other := servertest.Start(t, servertest.Config(s.url))
		servers := map[string]*servertest.Server{"the server": s.Server, "another server": other}
		for _, at := range servers {
			stream, err := moderatov1.NewEventsServiceClient(at.Conn).WatchEvents(s.ctx, &moderatov1.WatchEventsRequest{})
			s.must(stream, err)
			first, err := stream.Recv()
			s.must(first, err)
		}
		before := servertest.EventCursor(t, s.Store, 0)
		s.live(vera)
		s.must(nil, s.ban(s.As(t, vera.id).Context(), vera.id, marker))
		for name, at := range servers { // receive her events, so that they are in memory
			if received := strings.Join(listenGRPC(at, s.service, before)(t), "\n"); !strings.Contains(received, vera.id.String()) {
				t.Fatalf("%s received nothing of her: %s", name, received)
			}
		}
		s.deleteUser(vera)
		erase(t, s.Store)
		s.must(nil, s.ban(s.As(t, servertest.Owner).Context(), servertest.Owner, marker))
		for name, at := range servers {
			for transport, listen := range map[string]func(*testing.T) []string{"gRPC": listenGRPC(at, s.service, before), "SSE": listenSSE(at, s.service, before)} {
				received := listen(t)
				if trace := vera.traceIn(servertest.Row{Values: [][]byte{[]byte(strings.Join(received, "\n"))}}); trace != "" {
					t.Errorf("%s of %s receives %s:\n%s", transport, name, trace, strings.Join(received, "\n"))
				}
			}
		}
	})
}

// slowStream is a stream whose listener accepts one message at a time.
type slowStream struct {
	grpc.ServerStream
	ctx      context.Context
	messages chan *moderatov1.WatchEventsResponse
}

func (s *slowStream) Context() context.Context { return s.ctx }

func (s *slowStream) Send(m *moderatov1.WatchEventsResponse) error {
	select {
	case s.messages <- m:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

// SendMsg sends the message as gRPC does.
func (s *slowStream) SendMsg(message any) error {
	m, isMessage := message.(proto.Message)
	if !isMessage {
		return fmt.Errorf("a %T is no message", message)
	}
	response, isResponse := m.ProtoReflect().Interface().(*moderatov1.WatchEventsResponse)
	if !isResponse {
		return fmt.Errorf("a %T is no response", message)
	}
	return s.Send(response)
}

func (s *slowStream) next() *moderatov1.Event {
	for m := range s.messages {
		if m.GetEvent() != nil {
			return m.GetEvent()
		}
	}
	return nil
}

// listenSlowly starts to listen through a separate hub, like on another server.
func (s *scene) listenSlowly() (stream *slowStream, hub *watch.Hub) {
	s.t.Helper()
	hub = watch.NewHub(s.Store, slog.New(slog.DiscardHandler))
	caller := &authn.Caller{Kind: authn.Service, ClientID: s.service.ClientID, Token: digest.Of(s.service.Token)}
	ctx, cancel := context.WithCancel(authn.NewContext(context.Background(), caller))
	stream = &slowStream{ctx: ctx, messages: make(chan *moderatov1.WatchEventsResponse)}
	rights := &watch.Rights{Store: s.Store}
	service := &watch.Service{Hub: hub, Rights: rights, Heartbeat: watch.HeartbeatInterval}
	ended := make(chan struct{}, 2)
	go func() { outboxtest.RunJobs(ctx, s.Store, append(rights.Jobs(), hub.Job())...); ended <- struct{}{} }()
	go func() {
		if err := service.WatchEvents(&moderatov1.WatchEventsRequest{}, stream); ctx.Err() == nil {
			s.t.Errorf("the stream ends: %v", err)
		}
		ended <- struct{}{}
	}()
	s.t.Cleanup(func() { cancel(); <-ended; <-ended })
	if first := <-stream.messages; first.GetEvent() != nil {
		s.t.Errorf("the stream begins with %v", first)
	}
	return stream, hub
}

// look makes a hub notice rewritten events, as every new listener does.
func look(t *testing.T, hub *watch.Hub) {
	t.Helper()
	from, err := hub.Subscribe(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	from.Close()
}

// inTheMiddle has three users banned in a channel while the listener accepts no event.
// Once the hub has all six events, the listener accepts three: the fourth is then being
// sent, and the others are in its page. It returns the third.
func (s *scene) inTheMiddle(stream *slowStream, hub *watch.Hub, channel, third uid.ID) *moderatov1.Event {
	s.t.Helper()
	from, err := hub.Subscribe(s.t.Context(), nil, nil)
	s.must(from, err)
	defer from.Close()
	for _, who := range []uid.ID{servertest.Viewer, servertest.Other, third} {
		s.must(nil, s.ban(s.As(s.t, channel).Context(), channel, who))
	}
	for heard := 0; heard < 6; {
		page, err := from.Next(s.t.Context(), nil)
		s.must(page, err)
		heard += len(page)
	}
	stream.next()
	stream.next()
	return stream.next()
}

// TestDeletionReachesListenerMidPage has a listener hold events that are rewritten before
// they are sent.
func TestDeletionReachesListenerMidPage(t *testing.T) {
	eachScene(t, func(t *testing.T, s *scene) {
		s.must(nil, s.putUser(vera.id, vera.name))
		s.must(nil, s.putUser(walter.id, walter.name))
		s.must(nil, s.putChannel(walter.id, "x"))
		stream, hub := s.listenSlowly()
		sequence := s.inTheMiddle(stream, hub, servertest.Owner, vera.id).GetMetadata().GetSequence()
		s.deleteUser(vera)
		erase(t, s.Store)
		look(t, hub)
		for range 3 {
			e := stream.next()
			if sequence++; e.GetMetadata().GetSequence() != sequence {
				t.Errorf("heard number %d, want %d", e.GetMetadata().GetSequence(), sequence)
			}
			if text := string(outbox.JSON(e)); strings.Contains(text, vera.id.String()) {
				t.Errorf("still heard of her: %s", text)
			}
		}

		s.inTheMiddle(stream, hub, walter.id, marker)
		release := hold(t, s.Store)
		defer release()
		s.deleteChannel(walter)
		look(t, hub)
		s.must(nil, s.ban(s.As(t, servertest.Owner).Context(), servertest.Owner, marker))
		stream.next() // the event that was being sent
		if e := stream.next(); e.GetMetadata().GetChannelId() != servertest.Owner.String() {
			t.Errorf("still heard of the channel: %v", e)
		}
	})
}
