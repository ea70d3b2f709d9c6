package requests_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/authn"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/servertest/process"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
)

// target is a served process, and credentials for it.
type target struct {
	*process.Server

	owner, backend servertest.Credentials
}

func serve(t *testing.T, args ...string) *target {
	t.Helper()
	url := storetest.SQLite(t)
	storetest.Migrate(t, url)
	db, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	servertest.Import(t, db, servertest.World()...)
	s := &target{}
	for _, issue := range []struct {
		into *servertest.Credentials
		authn.NewToken
	}{
		{&s.owner, authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Owner, Scopes: authn.Scopes(), Lifetime: time.Hour}},
		{&s.backend, authn.NewToken{Kind: authn.Service, ClientID: servertest.ChatServer}},
	} {
		issued, err := authn.Issue(t.Context(), db, issue.NewToken)
		if err != nil {
			t.Fatal(err)
		}
		*issue.into = servertest.Credentials{Token: issued.Text, ClientID: issue.ClientID}
	}
	s.Server = process.Serve(t, url, args...)
	return s
}

// probe returns the durations of the reads of a client that behaves well.
func (s *target) probe(t *testing.T, duration time.Duration) []time.Duration {
	t.Helper()
	return process.Probe{URL: "http://" + s.REST + "/v1/channels/stats", Token: s.owner.Token, ClientID: s.owner.ClientID, Duration: duration}.Run(t)
}

// attack is what some clients do while another one reads.
type attack struct {
	name string
	run  func(ctx context.Context, t *testing.T, s *target, until time.Time)
}

// maxMemory bounds the memory of the process during an attack.
const maxMemory = 250 << 20

// slowest is how many times the p99 without an attack the one during an attack may be.
const slowest = 3

// TestProtocolAttacks measures the latency of a client that behaves well while others abuse
// HTTP. The soak requires a p99 of at most three times the one without an attack; the
// short form only that the client is answered, and that the memory is bounded.
func TestProtocolAttacks(t *testing.T) {
	duration := scaled(200*time.Millisecond, 10*time.Second)
	s := serve(t)
	s.probe(t, duration) // the first requests prepare statements
	for _, a := range attacks() {
		var idle []time.Duration
		if isSoak() {
			idle = s.probe(t, duration)
		}
		ctx, cancel := context.WithCancel(t.Context())
		until := time.Now().Add(duration + scaled(0, time.Second)) // the probe takes time to start
		var all sync.WaitGroup
		all.Go(func() {
			yieldProcessors()
			a.run(ctx, t, s, until)
		})
		busy := s.probe(t, duration)
		memory := s.AnonymousMemory(t)
		cancel()
		all.Wait()
		before, during := process.Percentile(idle, .99), process.Percentile(busy, .99)
		t.Logf("%-60s p99 %s idle, %s attacked, %d reads, %d MB", a.name, before, during, len(busy), memory>>20)
		if len(busy) == 0 || memory > maxMemory {
			t.Errorf("%s: %d reads were answered, and the process has %d MB", a.name, len(busy), memory>>20)
		}
		if isSoak() && during > slowest*before {
			t.Errorf("%s: a p99 of %s, want at most %d times %s", a.name, during, slowest, before)
		}
	}
	if s.probe(t, 100*time.Millisecond) == nil {
		t.Error("the server does not answer after the attacks")
	}
}

// yieldProcessors gives the thread of the calling goroutine the lowest priority: attackers
// have computers of their own, and must not take the processors from the server and the
// probe. The thread ends with the goroutine.
func yieldProcessors() {
	const lowest = 19
	runtime.LockOSThread()
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, lowest)
}

// attacks returns all attacks.
func attacks() []attack {
	all := []attack{
		{"REST: 100,000 levels of JSON", deepJSON},
		{"REST: a gzip bomb", gzipBomb},
		{"REST: slow headers", func(ctx context.Context, t *testing.T, s *target, until time.Time) {
			slowRequests(ctx, t, s, "GET /v1/channels/stats HTTP/1.1\r\nHost: moderato\r\nX-Slow: ", until)
		}},
		{"REST: slow bodies", func(ctx context.Context, t *testing.T, s *target, until time.Time) {
			slowRequests(ctx, t, s, s.post("/v1/channels/info", "Content-Length: 60000\r\n\r\n"), until)
		}},
		{"gRPC: a message of 100,000 levels", deepMessage},
		{"gRPC: a gzip bomb", compressedMessage},
	}
	for i, transport := range []string{"REST", "gRPC"} {
		for _, a := range http2Attacks {
			all = append(all, attack{transport + ": " + a.name, func(ctx context.Context, t *testing.T, s *target, until time.Time) {
				t.Helper()
				flood := func(ctx context.Context, until time.Time) (isClosed bool) {
					c, err := dialHTTP2(ctx, []string{s.REST, s.GRPC}[i], a.deaf)
					if err == nil {
						return c.flood(until, a.step(c))
					}
					if ctx.Err() == nil && time.Now().Before(until) {
						t.Errorf("%s, %s: %v", transport, a.name, err)
					}
					return false
				}
				if a.mustClose[i] && !flood(t.Context(), time.Now().Add(servertest.Slack)) {
					t.Errorf("%s, %s: the server does not close the connection", transport, a.name)
				}
				repeat(until, func() { flood(ctx, until) })
			}})
		}
	}
	return all
}

// repeat repeats an attack until the time is over. One client suffices: with more, the
// clients compete with the server for the processors of the test.
func repeat(until time.Time, run func()) {
	for time.Now().Before(until) {
		run()
	}
}

// post returns the beginning of a POST with valid credentials.
func (s *target) post(path, rest string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: moderato\r\nAuthorization: Bearer %s\r\nclient-id: %s\r\nContent-Type: application/json\r\n%s", path, s.owner.Token, s.owner.ClientID, rest)
}

// deepJSON sends bodies that are nested as deep as possible, also compressed.
func deepJSON(ctx context.Context, t *testing.T, s *target, until time.Time) {
	t.Helper()
	deep := []byte(`{"title":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}")
	fitting := []byte(`{"unknown":` + strings.Repeat("[", 32_000) + strings.Repeat("]", 32_000) + "}")
	repeat(until, func() {
		s.wantRefused(ctx, t, deep, "", http.StatusRequestEntityTooLarge)
		s.wantRefused(ctx, t, zipped(deep), "gzip", http.StatusRequestEntityTooLarge)
		s.wantRefused(ctx, t, fitting, "", http.StatusBadRequest)
		s.wantRefused(ctx, t, fitting[:40_000], "", http.StatusBadRequest)
	})
}

// gzipBomb sends bodies that become a thousand times larger.
func gzipBomb(ctx context.Context, t *testing.T, s *target, until time.Time) {
	t.Helper()
	bomb := zipped([]byte(`{"title":"` + strings.Repeat("a", 40<<20) + `"}`))
	twice := zipped(bomb)
	repeat(until, func() {
		s.wantRefused(ctx, t, bomb, "gzip", http.StatusRequestEntityTooLarge)
		s.wantRefused(ctx, t, twice, "gzip", http.StatusBadRequest)
		s.wantRefused(ctx, t, twice, "gzip, gzip", http.StatusUnsupportedMediaType)
	})
}

// wantRefused sends a body that must be refused with a status.
func (s *target) wantRefused(ctx context.Context, t *testing.T, body []byte, encoding string, want int) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.REST+"/v1/channels/info", bytes.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	r.Header = http.Header{"Authorization": {"Bearer " + s.owner.Token}, "Client-Id": {s.owner.ClientID}, "Content-Type": {"application/json"}}
	if encoding != "" {
		r.Header.Set("Content-Encoding", encoding)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil { // the server may close before it has read all
		return
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	if response.StatusCode != want {
		t.Errorf("a body of %d bytes with the encoding %q: got %d, want %d", len(body), encoding, response.StatusCode, want)
	}
}

// slowConnections is how many connections send slowly at the same time.
func slowConnections() int { return scaled(200, 2000) }

// slowRequests sends requests byte by byte. In a soak, the server must close each
// connection by its own limits.
func slowRequests(ctx context.Context, t *testing.T, s *target, beginning string, until time.Time) {
	t.Helper()
	const longest = 25 * time.Second // the server allows 15 s for a request, and 5 s for its header
	if isSoak() {
		until = time.Now().Add(longest)
		ctx = context.WithoutCancel(ctx)
	}
	var all sync.WaitGroup
	var closed atomic.Int64
	for range slowConnections() {
		all.Go(func() {
			conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.REST)
			if err != nil {
				return
			}
			defer func() { _ = conn.Close() }()
			_, err = io.WriteString(conn, beginning)
			for err == nil && time.Now().Before(until) && ctx.Err() == nil {
				time.Sleep(200 * time.Millisecond)
				_, err = conn.Write([]byte("a"))
			}
			if err != nil {
				closed.Add(1)
			}
		})
	}
	all.Wait()
	if n := int64(slowConnections()); isSoak() && closed.Load() < n {
		t.Errorf("the server closed %d of %d connections that send slowly", closed.Load(), n)
	}
}

// raw is a codec for messages that are sent as they are.
type raw struct{}

// Marshal implements encoding.CodecV2.
func (raw) Marshal(v any) (mem.BufferSlice, error) {
	message, _ := v.([]byte)
	return mem.BufferSlice{mem.SliceBuffer(message)}, nil
}

// Unmarshal implements encoding.CodecV2.
func (raw) Unmarshal(mem.BufferSlice, any) error { return nil }

// Name implements encoding.CodecV2.
func (raw) Name() string { return "proto" }

var _ encoding.CodecV2 = raw{}

// deepMessage sends messages with 100,000 levels, which protobuf limits to 10,000.
func deepMessage(ctx context.Context, t *testing.T, s *target, until time.Time) {
	t.Helper()
	conn, err := grpc.NewClient(s.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = conn.Close() }()
	deep := deepAction(100_000)
	repeat(until, func() {
		err := conn.Invoke(s.backend.Context(), platformv1.ContentService_RecordVote_FullMethodName, deep, nil, grpc.ForceCodecV2(raw{}))
		if code := status.Code(err); ctx.Err() == nil && code != codes.Internal && code != codes.InvalidArgument && code != codes.ResourceExhausted {
			t.Errorf("a message of 100,000 levels: got %v, want it to be refused", err)
		}
	})
}

// deepAction returns a vote whose action, field 8, is nested.
func deepAction(levels int) []byte {
	const actionTag, fieldsTag, valueTag, listTag, valuesTag = 8<<3 | 2, 1<<3 | 2, 2<<3 | 2, 6<<3 | 2, 1<<3 | 2
	// Written from the end: each level is a list with one value.
	reversed := []byte{}
	length := 0
	wrap := func(tag byte) {
		prefix := []byte{tag}
		for n := length; ; n >>= 7 {
			if n < 0x80 {
				prefix = append(prefix, byte(n))
				break
			}
			prefix = append(prefix, byte(n)|0x80)
		}
		for i := len(prefix) - 1; i >= 0; i-- {
			reversed = append(reversed, prefix[i])
		}
		length += len(prefix)
	}
	for range levels {
		wrap(listTag)
		wrap(valuesTag)
	}
	wrap(valueTag)
	wrap(fieldsTag)
	wrap(actionTag)
	message := make([]byte, len(reversed))
	for i, b := range reversed {
		message[len(reversed)-1-i] = b
	}
	return message
}

// compressedMessage sends messages that become a thousand times larger by decompression,
// which the server stops at twenty times.
func compressedMessage(ctx context.Context, t *testing.T, s *target, until time.Time) {
	t.Helper()
	bomb := grpcMessage(zipped(make([]byte, 10<<20)), true)
	repeat(until, func() {
		c, err := dialHTTP2(ctx, s.GRPC, false)
		if err != nil {
			return
		}
		c.flood(until, func() error {
			block := c.requestHeaders(platformv1.ContentService_RecordVote_FullMethodName, "grpc-encoding", "gzip",
				"authorization", "Bearer "+s.backend.Token, "client-id", s.backend.ClientID)
			stream, err := c.open(block, true)
			if err == nil {
				err = c.framer.WriteData(stream, true, bomb[:min(len(bomb), 16<<10)])
			}
			return err
		})
	})
}
