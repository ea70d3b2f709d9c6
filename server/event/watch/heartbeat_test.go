package watch_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/event/outbox/outboxtest"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
)

// localStream is the server side of a stream without a connection.
type localStream struct {
	grpc.ServerStream

	ctx  context.Context
	sent chan *moderatov1.WatchEventsResponse
	// waits receives a value when a message begins to wait.
	waits chan struct{}
}

func (l *localStream) Context() context.Context { return l.ctx }

func (l *localStream) Send(m *moderatov1.WatchEventsResponse) error {
	select {
	case l.waits <- struct{}{}:
	default:
	}
	select {
	case l.sent <- m:
		return nil
	case <-l.ctx.Done():
		return l.ctx.Err()
	}
}

func (l *localStream) SendMsg(m any) error {
	response, _ := m.(proto.Message).ProtoReflect().Interface().(*moderatov1.WatchEventsResponse)
	return l.Send(response)
}

// watchLocally calls WatchEvents as a backend, with a hub of its own and a heartbeat
// interval, and returns the messages.
func watchLocally(t *testing.T, s *servertest.Server, heartbeat time.Duration, req *moderatov1.WatchEventsRequest) <-chan *moderatov1.WatchEventsResponse {
	t.Helper()
	return listenTo(t, s, &watch.Service{Hub: runHub(t, s.Store), Heartbeat: heartbeat}, req)
}

// listenChat has a backend listen to chat, which hears the messages of the other server s.
func listenChat(t *testing.T, s *servertest.Server) *localStream {
	t.Helper()
	return openLocal(t, s, chatService(t, s), &moderatov1.WatchEventsRequest{})
}

// chatService returns a Service beside the server s, which delivers the messages that are
// posted through s.
func chatService(t *testing.T, s *servertest.Server) *watch.Service {
	t.Helper()
	chats := live.NewHub(s.Store, slog.New(slog.DiscardHandler), prometheus.NewRegistry(), chat.Visible)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		go outboxtest.RunJobs(ctx, s.Store, chats.Jobs()...)
		chats.Run(ctx)
	}()
	t.Cleanup(func() { stop(); <-ended })
	hub := runHub(t, s.Store)
	hub.Deleted = chats.Deleted
	return &watch.Service{Hub: hub, Live: chats, Heartbeat: time.Hour}
}

func listenTo(t *testing.T, s *servertest.Server, service *watch.Service, req *moderatov1.WatchEventsRequest) <-chan *moderatov1.WatchEventsResponse {
	t.Helper()
	return openLocal(t, s, service, req).sent
}

// openLocal opens a stream whose messages wait until the test takes them.
func openLocal(t *testing.T, s *servertest.Server, service *watch.Service, req *moderatov1.WatchEventsRequest) *localStream {
	t.Helper()
	checkRights(t, s, service)
	ctx, cancel := context.WithCancel(authn.NewContext(context.Background(), backend(t, s)))
	l := &localStream{ctx: ctx, sent: make(chan *moderatov1.WatchEventsResponse), waits: make(chan struct{}, 1000)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = service.WatchEvents(req, l)
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return l
}

// backend is a caller with a service token.
func backend(t *testing.T, s *servertest.Server) *authn.Caller {
	t.Helper()
	return &authn.Caller{Kind: authn.Service, Token: digest.Of(s.AsService(t).Token)}
}

// checkRights has a Service check the rights of its listeners until the test ends.
func checkRights(t *testing.T, s *servertest.Server, service *watch.Service) {
	t.Helper()
	service.Rights = &watch.Rights{Store: s.Store, Log: slog.New(slog.DiscardHandler)}
	checks, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	go outboxtest.RunJobs(checks, s.Store, service.Rights.Jobs()...)
}

// heartbeat returns the position of the next message, which must be a heartbeat.
func heartbeat(t *testing.T, s *store.Store, messages <-chan *moderatov1.WatchEventsResponse) int64 {
	t.Helper()
	select {
	case m := <-messages:
		if m.GetEvent() != nil {
			t.Fatalf("got %v, want a heartbeat", m)
		}
		return servertest.EventPosition(t, s, m.GetCursor())
	case <-time.After(patience):
		t.Fatalf("got no heartbeat within %s", patience)
		return 0
	}
}

func TestIdleStreamSendsHeartbeats(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		messages := watchLocally(t, s, time.Millisecond, &moderatov1.WatchEventsRequest{})
		if first, second := heartbeat(t, s.Store, messages), heartbeat(t, s.Store, messages); second < first {
			t.Errorf("the cursor went back from %d to %d", first, second)
		}
	})
}

// TestFilteredStreamSendsHeartbeats reads many events that the filter excludes. The cursors
// of the heartbeats advance past them.
func TestFilteredStreamSendsHeartbeats(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		all := subscribe(t, runHub(t, s.Store), nil)
		if err := outboxtest.Emit(s.Store, servertest.Owner, 1200); err != nil {
			t.Fatal(err)
		}
		receive(t, all, 1200)
		messages := watchLocally(t, s, time.Nanosecond, &moderatov1.WatchEventsRequest{Type: []string{"stream.online"}, Cursor: servertest.EventCursor(t, s.Store, 0)})
		if first, second := heartbeat(t, s.Store, messages), heartbeat(t, s.Store, messages); first != 0 || second <= 0 || second > 1200 {
			t.Errorf("got cursors at %d and %d, want 0 and one from 1 to 1200", first, second)
		}
	})
}
