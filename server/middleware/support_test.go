package middleware_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/fair"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server"
	"github.com/moderato-live/moderato/server/middleware"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

const (
	moderatorsPath = "/v1/moderation/moderators"
	banPath        = "/v1/moderation/ban"

	listModerators = moderatov1.ModerationService_ListModerators_FullMethodName
	addModerator   = moderatov1.ModerationService_AddModerator_FullMethodName
)

// start starts a server with the World; changes modify its configuration.
func start(t *testing.T, changes ...func(*server.Config)) *servertest.Server {
	t.Helper()
	config := servertest.Config(storetest.SQLite(t))
	for _, change := range changes {
		change(&config)
	}
	s := servertest.Start(t, config)
	s.Load(t, servertest.World()...)
	return s
}

// logged starts a server, and returns it with its log from level debug on.
func logged(t *testing.T) (*servertest.Server, *lines) {
	t.Helper()
	kept := &lines{}
	return start(t, func(c *server.Config) { c.Log = kept.logger() }), kept
}

func listOf(channel uid.ID) string { return moderatorsPath + "?channelId=" + channel.String() }

func roleOf(user uid.ID) string {
	return `{"channelId":"` + servertest.Owner.String() + `","userId":"` + user.String() + `"}`
}

// lines is a log that tests can search.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// find returns the lines that contain all pairs; pairs holds names and values
// alternately.
func (l *lines) find(t *testing.T, pairs ...string) []map[string]any {
	t.Helper()
	var found []map[string]any
	for text := range strings.Lines(l.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("a line of the log is not JSON: %s", text)
		}
		fits := true
		for i := 0; i < len(pairs); i += 2 {
			fits = fits && line[pairs[i]] == pairs[i+1]
		}
		if fits {
			found = append(found, line)
		}
	}
	return found
}

// eventually waits for an effect that may follow the response.
func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !happened(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: it did not happen", what)
		}
	}
}

// newChain returns a chain over the store of a server, and its log.
func newChain(s *servertest.Server) (*middleware.Chain, *lines) {
	kept := &lines{}
	return &middleware.Chain{
		Reads:         fair.NewGate(16),
		Authenticator: authn.NewAuthenticator(s.Store),
		Limiter:       middleware.NewLimiter(0, time.Now),
		Metrics:       middleware.NewMetrics(prometheus.NewRegistry()),
		Log:           kept.logger(),
		Draining:      func() bool { return false },
	}, kept
}

// incoming returns the context of a call as a service receives it.
func incoming(ctx context.Context, c servertest.Credentials) (context.Context, *transport) {
	md, _ := metadata.FromOutgoingContext(c.Context())
	sent := &transport{}
	return metadata.NewIncomingContext(grpc.NewContextWithServerTransportStream(ctx, sent), md), sent
}

// transport keeps the header of a response.
type transport struct{ header metadata.MD }

func (t *transport) Method() string { return "" }

func (t *transport) SetHeader(md metadata.MD) error {
	t.header = metadata.Join(t.header, md)
	return nil
}

func (t *transport) SendHeader(md metadata.MD) error { return t.SetHeader(md) }

func (t *transport) SetTrailer(metadata.MD) error { return nil }

// stream is a stream with its own context.
type stream struct {
	grpc.ServerStream

	ctx context.Context
}

func (s stream) Context() context.Context { return s.ctx }
