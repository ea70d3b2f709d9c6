package standings_test

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/server/event/outbox/outboxtest"
	"github.com/moderato-live/moderato/server/event/standings"
	eventwatch "github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
)

// localStream is the server side of a stream without a connection. It subscribes to all
// channels.
type localStream struct {
	grpc.ServerStream

	ctx  context.Context
	asks chan *platformv1.WatchStandingsRequest
	sent chan *platformv1.WatchStandingsResponse
}

func (l *localStream) Context() context.Context { return l.ctx }

func (l *localStream) Recv() (*platformv1.WatchStandingsRequest, error) {
	select {
	case r := <-l.asks:
		return r, nil
	case <-l.ctx.Done():
		return nil, io.EOF
	}
}

func (l *localStream) Send(m *platformv1.WatchStandingsResponse) error {
	select {
	case l.sent <- m:
		return nil
	case <-l.ctx.Done():
		return l.ctx.Err()
	}
}

// openLocal opens a stream of a Service. It returns the responses, and the error with which
// the stream ends.
func openLocal(t *testing.T, s *servertest.Server, service *standings.Service) (<-chan *platformv1.WatchStandingsResponse, <-chan error) {
	t.Helper()
	caller := &authn.Caller{Kind: authn.Service, Token: digest.Of(s.AsService(t).Token)}
	ctx, cancel := context.WithCancel(authn.NewContext(context.Background(), caller))
	l := &localStream{ctx: ctx, asks: make(chan *platformv1.WatchStandingsRequest, 1), sent: make(chan *platformv1.WatchStandingsResponse, 1000)}
	asked := everything()
	asked.SubscriberName = "chat-1"
	l.asks <- &platformv1.WatchStandingsRequest{Request: &platformv1.WatchStandingsRequest_Subscribe{Subscribe: asked}}
	ended := make(chan error, 1)
	go func() { ended <- service.WatchStandings(l) }()
	t.Cleanup(cancel)
	return l.sent, ended
}

// TestStreamIsRefusedAfterGap opens a stream on a server that did not look for so long that
// it may have missed deletions. The next stream begins.
func TestStreamIsRefusedAfterGap(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		// A Service without its jobs looks when a stream begins, and only then.
		log := slog.New(slog.DiscardHandler)
		watching := &eventwatch.Service{Hub: eventwatch.NewHub(s.Store, log), Rights: &eventwatch.Rights{Store: s.Store, Log: log}}
		service := standings.New(s.Store, watching, log, prometheus.NewRegistry())
		go outboxtest.RunJobs(t.Context(), s.Store, watching.Rights.Jobs()...)
		responses, ended := openLocal(t, s, service)
		<-responses
		if err := service.AgeLook(t.Context(), 2*time.Minute); err != nil {
			t.Fatal(err)
		}
		d := newDrive(t, s)
		d.must(d.Directory.DeleteUser(d.service.Context(), &platformv1.DeleteUserRequest{UserId: servertest.Raider.String()}))
		_, refused := openLocal(t, s, service)
		for what, ended := range map[string]<-chan error{"the open stream": ended, "the new stream": refused} {
			if err := <-ended; apierr.Code(apierr.Of(err).Reason) != "UNAVAILABLE" {
				t.Errorf("%s ends with %v", what, err)
			}
		}
		responses, _ = openLocal(t, s, service)
		if m := <-responses; !m.GetBeginning().GetIsSnapshot() {
			t.Errorf("after the gap, a stream begins with %v", m)
		}
	})
}
