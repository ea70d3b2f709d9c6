package requests_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

// target is a served process, and credentials for it.
type target struct {
	*process.Server

	owner, backend servertest.Credentials
	// isServed is whether attackers begin each connection with a request that is served.
	isServed bool
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
	// run attacks until the context ends. It calls begun after each step.
	run func(ctx context.Context, t *testing.T, s *target, begun func())
}

const (
	// maxMemory bounds the memory of the process during an attack.
	maxMemory = 250 << 20
	// maxP99 bounds the p99 of the other client's reads during an attack.
	maxP99 = 60 * time.Millisecond
	// memoryInterval is how often the memory is read.
	memoryInterval = 50 * time.Millisecond
)

// TestProtocolAttacks measures the latency of a client that behaves well while others abuse
// HTTP, from the beginning of their connections and after a request that was served. The soak
// bounds the p99; the short form requires that the client is answered, and that the memory is
// bounded.
func TestProtocolAttacks(t *testing.T) {
	for _, c := range []struct {
		name    string
		args    []string
		attacks []attack
		// served are further attacks, which begin with a request only.
		served []attack
	}{
		{"by default", nil, slices.Concat(requestAttacks(), frameAttacks(overHTTP1), frameAttacks(overGRPC)), nil},
		{"with --http-h2c", []string{"--http-h2c"}, frameAttacks(overHTTP2), frameAttacks(overHTTP1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, c.args...)
			s.probe(t, 200*time.Millisecond) // the first requests prepare statements
			for _, a := range c.attacks {
				s.endures(t, a)
			}
			s.isServed = true
			for _, a := range slices.Concat(c.attacks, c.served) {
				s.endures(t, a)
			}
			if s.probe(t, 100*time.Millisecond) == nil {
				t.Error("the server does not answer after the attacks")
			}
		})
	}
}

// endures checks that another client is served during an attack.
func (s *target) endures(t *testing.T, a attack) {
	t.Helper()
	if s.isServed {
		a.name += ", after a request"
	}
	took, memory := s.under(t, a, scaled(100*time.Millisecond, 10*time.Second))
	p99 := process.Percentile(took, .99)
	t.Logf("%-70s p99 %s, %d reads, %d MB", a.name, p99, len(took), memory>>20)
	if len(took) == 0 || memory > maxMemory {
		t.Errorf("%s: %d reads were answered, and the process has %d MB", a.name, len(took), memory>>20)
	}
	if isSoak() && p99 > maxP99 {
		t.Errorf("%s: a p99 of %s, want at most %s", a.name, p99, maxP99)
	}
}

// under returns the durations of the reads of another client during an attack, and the highest
// memory of the process.
func (s *target) under(t *testing.T, a attack, duration time.Duration) (busy []time.Duration, memory int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	begun := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		yieldProcessors()
		begin := sync.OnceFunc(func() { close(begun) })
		defer begin()
		a.run(ctx, t, s, begin)
	})
	defer all.Wait()
	defer cancel()
	<-begun
	probed := make(chan struct{})
	go func() {
		defer close(probed)
		busy = s.probe(t, duration)
	}()
	for tick := time.NewTicker(memoryInterval); ; {
		memory = max(memory, s.AnonymousMemory(t))
		select {
		case <-tick.C:
		case <-probed:
			tick.Stop()
			return busy, memory
		}
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

// requestAttacks returns the attacks that send requests.
func requestAttacks() []attack {
	return []attack{
		{"REST: 100,000 levels of JSON", deepJSON},
		{"REST: a gzip bomb", gzipBomb},
		{"REST: slow headers", func(ctx context.Context, t *testing.T, s *target, begun func()) {
			slowRequests(ctx, t, s, "GET /v1/channels/stats HTTP/1.1\r\nHost: moderato\r\nX-Slow: ", begun)
		}},
		{"REST: slow bodies", func(ctx context.Context, t *testing.T, s *target, begun func()) {
			slowRequests(ctx, t, s, s.post("/v1/channels/info", "Content-Length: 60000\r\n\r\n"), begun)
		}},
		{"gRPC: a message of 100,000 levels", deepMessage},
		{"gRPC: a gzip bomb", compressedMessage},
		{"gRPC: connections without a call", emptyConnections},
	}
}

// frameAttacks returns the attacks that send frames of HTTP/2 to a port.
func frameAttacks(over port) (all []attack) {
	for _, a := range http2Attacks {
		name := over.String() + ": " + a.name
		all = append(all, attack{name, func(ctx context.Context, t *testing.T, s *target, begun func()) {
			t.Helper()
			flood := func(ctx context.Context) (isClosed bool) {
				c, err := s.dialHTTP2(ctx, over, a.deaf)
				if err == nil {
					return c.flood(ctx, begun, a.step(c))
				}
				if ctx.Err() == nil {
					t.Errorf("%s: %v", name, err)
				}
				return false
			}
			if over == overHTTP1 || a.mustClose[over-overHTTP2] {
				bounded, cancel := context.WithTimeout(t.Context(), servertest.Slack)
				defer cancel()
				if !flood(bounded) {
					t.Errorf("%s: the server does not close the connection", name)
				}
			}
			repeat(ctx, func() { flood(ctx) })
		}})
	}
	return all
}

// repeat repeats an attack until the context ends. One client suffices: with more, the
// clients compete with the server for the processors of the test.
func repeat(ctx context.Context, run func()) {
	for ctx.Err() == nil {
		run()
	}
}

// post returns the beginning of a POST with valid credentials.
func (s *target) post(path, rest string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: moderato\r\nAuthorization: Bearer %s\r\nclient-id: %s\r\nContent-Type: application/json\r\n%s", path, s.owner.Token, s.owner.ClientID, rest)
}

// deepJSON sends bodies that are nested as deep as possible, also compressed.
func deepJSON(ctx context.Context, t *testing.T, s *target, begun func()) {
	t.Helper()
	deep := []byte(`{"title":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}")
	fitting := []byte(`{"unknown":` + strings.Repeat("[", 32_000) + strings.Repeat("]", 32_000) + "}")
	s.wantRefused(ctx, t, begun, []refusal{
		{deep, "", http.StatusRequestEntityTooLarge},
		{zipped(deep), "gzip", http.StatusRequestEntityTooLarge},
		{fitting, "", http.StatusBadRequest},
		{fitting[:40_000], "", http.StatusBadRequest},
	})
}

// gzipBomb sends bodies that become a thousand times larger.
func gzipBomb(ctx context.Context, t *testing.T, s *target, begun func()) {
	t.Helper()
	bomb := zipped([]byte(`{"title":"` + strings.Repeat("a", 40<<20) + `"}`))
	twice := zipped(bomb)
	s.wantRefused(ctx, t, begun, []refusal{
		{bomb, "gzip", http.StatusRequestEntityTooLarge},
		{twice, "gzip", http.StatusBadRequest},
		{twice, "gzip, gzip", http.StatusUnsupportedMediaType},
	})
}

// refusal is a body that must be refused with a status.
type refusal struct {
	body     []byte
	encoding string
	want     int
}

// wantRefused sends bodies in turn until the context ends. The server may close a connection
// before it has read the body, but each body must be answered at least once.
func (s *target) wantRefused(ctx context.Context, t *testing.T, begun func(), all []refusal) {
	t.Helper()
	for _, r := range all {
		bounded, cancel := context.WithTimeout(t.Context(), servertest.Slack)
		for bounded.Err() == nil && !s.answers(bounded, t, r) {
			begun()
		}
		if bounded.Err() != nil {
			t.Errorf("a body of %d bytes with the encoding %q was never answered", len(r.body), r.encoding)
		}
		cancel()
		begun()
	}
	repeat(ctx, func() {
		for _, r := range all {
			s.answers(ctx, t, r)
		}
	})
}

// answers sends a body, and reports whether the server answers, which must be as wanted.
func (s *target) answers(ctx context.Context, t *testing.T, refused refusal) bool {
	t.Helper()
	if s.isServed {
		s.send(ctx, t, http.MethodGet, "/v1/channels/stats", refusal{})
	}
	status := s.send(ctx, t, http.MethodPost, "/v1/channels/info", refused)
	if status != 0 && status != refused.want {
		t.Errorf("a body of %d bytes with the encoding %q: got %d, want %d", len(refused.body), refused.encoding, status, refused.want)
	}
	return status != 0
}

// send sends a request, and returns the status of the response; 0 if there is none.
func (s *target) send(ctx context.Context, t *testing.T, method, path string, sent refusal) (status int) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+s.REST+path, bytes.NewReader(sent.body))
	if err != nil {
		t.Error(err)
		return 0
	}
	r.Header = http.Header{"Authorization": {"Bearer " + s.owner.Token}, "Client-Id": {s.owner.ClientID}, "Content-Type": {"application/json"}}
	if sent.encoding != "" {
		r.Header.Set("Content-Encoding", sent.encoding)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return response.StatusCode
}

// emptyConnections opens connections and closes them.
func emptyConnections(ctx context.Context, _ *testing.T, s *target, begun func()) {
	repeat(ctx, func() {
		if conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.GRPC); err == nil {
			_ = conn.Close()
		}
		begun()
	})
}

// slowConnections is how many connections send slowly at the same time.
func slowConnections() int { return scaled(200, 2000) }

// slowRequests sends requests byte by byte. In a soak, the server must close each
// connection by its own limits.
func slowRequests(ctx context.Context, t *testing.T, s *target, beginning string, begun func()) {
	t.Helper()
	const longest = 25 * time.Second // the server allows 15 s for a request, and 5 s for its header
	if isSoak() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), longest)
		defer cancel()
	}
	var open []net.Conn
	for range slowConnections() {
		conn, err := s.dialREST(ctx)
		if err != nil {
			break
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, beginning)
		open = append(open, conn)
		begun()
	}
	opened := len(open)
	// Each connection sends a byte about every 200 ms, and all of them send evenly.
	for next := 0; len(open) > 0 && ctx.Err() == nil; next++ {
		time.Sleep(200 * time.Millisecond / time.Duration(len(open)))
		next %= len(open)
		if _, err := open[next].Write([]byte("a")); err != nil {
			open = slices.Delete(open, next, next+1)
		}
	}
	if isSoak() && (opened < slowConnections() || len(open) > 0) {
		t.Errorf("the server accepted %d of %d connections that send slowly, and did not close %d", opened, slowConnections(), len(open))
	}
}
