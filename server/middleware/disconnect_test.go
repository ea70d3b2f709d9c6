package middleware_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/test/servertest"
)

const watchEvents = moderatov1.EventsService_WatchEvents_FullMethodName

// listen opens a stream on each transport, and returns once both are open. frames receives
// the Server-Sent Events when their stream ends.
func listen(t *testing.T, s *servertest.Server) (hangUp func(), frames <-chan string) {
	t.Helper()
	as := s.AsService(t)
	// A separate connection, because the server's ends with it.
	conn, err := grpc.NewClient(s.GRPCAddr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	ctx, cancel := context.WithCancel(as.Context())
	stream, err := moderatov1.NewEventsServiceClient(conn).WatchEvents(ctx, &moderatov1.WatchEventsRequest{})
	if err == nil {
		_, err = stream.Recv()
	}
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(s.Request(t, as, http.MethodGet, "/v1/events", ""))
	if err != nil {
		t.Fatal(err)
	}
	hangUp = func() { cancel(); _ = answer.Body.Close() }
	t.Cleanup(hangUp)
	all := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(answer.Body)
		all <- string(text)
	}()
	return hangUp, all
}

// wantEnds checks the log lines with which the streams of both transports ended.
func wantEnds(t *testing.T, log *lines, level, code string) {
	t.Helper()
	eventually(t, "the end of both streams in the log", func() bool { return len(log.find(t, "method", watchEvents)) == 2 })
	if found := log.find(t, "method", watchEvents, "level", level, "code", code); len(found) != 2 {
		t.Errorf("got %v, want both as %s at %s", log.find(t, "method", watchEvents), code, level)
	}
}

func TestListenerDisconnectIsNotError(t *testing.T) {
	t.Parallel()
	s, log := logged(t)
	hangUp, _ := listen(t, s)
	hangUp()
	wantEnds(t, log, "INFO", "CANCELED")
}

func TestStreamEndedByShutdownIsNotError(t *testing.T) {
	t.Parallel()
	s, log := logged(t)
	_, frames := listen(t, s)
	s.Stop(t)
	if text := <-frames; !strings.Contains(text, `"code":"UNAVAILABLE"`) || !strings.Contains(text, "resume after the last id or cursor") {
		t.Errorf("the listener received %s", text)
	}
	wantEnds(t, log, "INFO", "STOPPING")
	if found := log.find(t, "level", "ERROR"); len(found) > 0 {
		t.Errorf("it is logged as our fault: %v", found)
	}
}

func TestCallerCancellationIsNotError(t *testing.T) {
	t.Parallel()
	s := start(t)
	c, log := newChain(s)
	for method, level := range map[string]string{listModerators: "DEBUG", addModerator: "INFO"} {
		leaving, leave := context.WithCancel(t.Context())
		ctx, _ := incoming(leaving, s.As(t, servertest.Owner))
		_ = unary(c, ctx, method, func(ctx context.Context) error {
			leave()
			return fmt.Errorf("query: %w", ctx.Err())
		})
		if found := log.find(t, "method", method, "level", level, "code", "CANCELED"); len(found) != 1 {
			t.Errorf("%s: got %s, want one line as CANCELED at %s", method, log, level)
		}
	}
}
