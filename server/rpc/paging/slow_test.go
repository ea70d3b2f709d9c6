package paging_test

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// stallingConn is a connection that stops reading.
type stallingConn struct {
	net.Conn

	resumed <-chan struct{}
	stall   <-chan struct{}
}

func (c stallingConn) Read(p []byte) (int, error) {
	select {
	case <-c.stall:
		<-c.resumed
	default:
	}
	return c.Conn.Read(p)
}

// listStalled has callers request a list that they do not read until resumed is closed.
// It returns when all lists are being sent. wait waits for their results; hangUp closes
// their connections.
func listStalled(t *testing.T, s *servertest.Server, callers []servertest.Credentials, resumed <-chan struct{}) (wait func() []error, hangUp func()) {
	t.Helper()
	var mu sync.Mutex
	var conns []net.Conn
	stall := make(chan struct{})
	clients := make([]moderatov1.ModerationServiceClient, len(callers))
	for i, c := range callers {
		conn, err := grpc.NewClient(s.GRPCAddr, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithStaticStreamWindowSize(64<<10),
			grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) {
				conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
				mu.Lock()
				defer mu.Unlock()
				conns = append(conns, conn)
				return stallingConn{conn, resumed, stall}, err
			}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		clients[i] = moderatov1.NewModerationServiceClient(conn)
		page := &moderatov1.ListModeratorsRequest{ChannelId: servertest.Viewer.String(), Limit: new(int32(1))}
		if _, err := clients[i].ListModerators(c.Context(), page); err != nil {
			t.Fatal(err)
		}
	}
	before := listCalls(t, s)
	close(stall)
	var group sync.WaitGroup
	errs := make([]error, len(callers))
	for i, c := range callers {
		group.Go(func() {
			_, errs[i] = clients[i].ListModerators(c.Context(), &moderatov1.ListModeratorsRequest{ChannelId: servertest.Viewer.String()})
		})
	}
	for deadline := time.Now().Add(20 * time.Second); listCalls(t, s) < before+len(callers); {
		if time.Now().After(deadline) {
			t.Error("the lists are not being sent")
			break
		}
	}
	wait = func() []error {
		group.Wait()
		return errs
	}
	return wait, func() {
		mu.Lock()
		defer mu.Unlock()
		for _, conn := range conns {
			_ = conn.Close()
		}
	}
}

// listCalls returns how many calls for a list over gRPC succeeded.
func listCalls(t *testing.T, s *servertest.Server) int {
	t.Helper()
	const counter = `moderato_requests_total{code="OK",method="/moderato.v1.ModerationService/ListModerators",transport="grpc"} `
	_, after, _ := strings.Cut(s.Metrics(t), counter)
	count, _, _ := strings.Cut(after, "\n")
	n, _ := strconv.Atoi(count) // 0 before the first call
	return n
}

// gRPC keeps a response in memory until its client has received it. So only few long
// lists are in flight at a time, and clients that receive slowly delay nothing else.
func TestLongListsForSlowClientsAreLimited(t *testing.T) {
	s, want := startWithModerators(t, storetest.SQLite(t), 2500, 50_000)
	owner := s.As(t, servertest.Owner)
	resumed := make(chan struct{})
	resume := sync.OnceFunc(func() { close(resumed) })
	wait, _ := listStalled(t, s, callers(t, s, 4), resumed)
	t.Cleanup(resume) // before the connections are closed
	wantRejected(t, s, owner, true)
	if r := s.REST(t, owner, "GET", path+"?"+query.Encode(), ""); r.Status != http.StatusServiceUnavailable || r.Header.Get("Retry-After") == "" {
		t.Errorf("the list over REST: got %d %s, want 503 with Retry-After", r.Status, r.Body)
	}
	if rows := listOverGRPC(t, s, owner, &moderatov1.ListModeratorsRequest{Limit: new(int32(100))}); len(rows) != 100 {
		t.Errorf("a page: got %d rows, want 100", len(rows))
	}
	resume()
	for _, err := range wait() {
		if err != nil {
			t.Errorf("a client that received slowly: %v", err)
		}
	}
	if rows := listOverGRPC(t, s, owner, &moderatov1.ListModeratorsRequest{}); len(rows) != len(want) {
		t.Errorf("afterwards: got %d rows, want %d", len(rows), len(want))
	}
}

// A client that disconnects while it receives a long list releases what it held.
func TestLongListEndsWithConnection(t *testing.T) {
	s, _ := startWithModerators(t, storetest.SQLite(t), 2500, 50_000)
	owner := s.As(t, servertest.Owner)
	resumed := make(chan struct{})
	_, hangUp := listStalled(t, s, callers(t, s, 4), resumed)
	t.Cleanup(func() { close(resumed) }) // before the connections are closed
	wantRejected(t, s, owner, true)
	hangUp()
	wantRejected(t, s, owner, false)
}

// A caller may have one long list in flight, so that others can have theirs.
func TestCallerHasOneLongListAtATime(t *testing.T) {
	s, _ := startWithModerators(t, storetest.SQLite(t), 2500, 50_000)
	greedy, owner := s.As(t, servertest.Viewer), s.As(t, servertest.Owner)
	resumed := make(chan struct{})
	resume := sync.OnceFunc(func() { close(resumed) })
	_, _ = listStalled(t, s, []servertest.Credentials{greedy}, resumed)
	t.Cleanup(resume)
	wantRejected(t, s, greedy, true)
	wantRejected(t, s, owner, false)
}

// stalling is a response that its client does not read until resumed is closed.
type stalling struct {
	http.ResponseWriter

	writing chan<- struct{}
	resumed <-chan struct{}
}

func (s stalling) Write(p []byte) (int, error) {
	s.writing <- struct{}{}
	<-s.resumed
	return s.ResponseWriter.Write(p)
}

// A long list over REST is in flight until its client has received it.
func TestLongListsOverRESTAreLimited(t *testing.T) {
	writing, resumed := make(chan struct{}, 10), make(chan struct{})
	resume := sync.OnceFunc(func() { close(resumed) })
	defer resume()
	s, want := startWithModerators(t, storetest.SQLite(t), 1200, 50_000, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Has("stall") {
				w = stalling{w, writing, resumed}
			}
			next.ServeHTTP(w, r)
		})
	})
	all := callers(t, s, 5)
	var group sync.WaitGroup
	begin := func(c servertest.Credentials) {
		group.Go(func() {
			if rows := listed(t, s.REST(t, c, "GET", path+"?stall=&"+query.Encode(), "")); len(rows) != len(want) {
				t.Errorf("a client that received slowly: got %d rows, want %d", len(rows), len(want))
			}
		})
		<-writing
	}
	wantOverloaded := func(c servertest.Credentials) {
		t.Helper()
		if r := s.REST(t, c, "GET", path+"?"+query.Encode(), ""); r.Status != http.StatusServiceUnavailable || r.Header.Get("Retry-After") == "" {
			t.Errorf("got %d %.200s, want 503 with Retry-After", r.Status, r.Body)
		}
	}
	begin(all[0])
	wantOverloaded(all[0])
	for _, c := range all[1:4] {
		begin(c)
	}
	wantOverloaded(all[4])
	resume()
	group.Wait()
	wantRejected(t, s, all[4], false)
}

// callers returns credentials of different users.
func callers(t *testing.T, s *servertest.Server, n int) []servertest.Credentials {
	t.Helper()
	all := make([]servertest.Credentials, n)
	for i, user := range servertest.AddUsers(t, s.Store, n) {
		all[i] = s.As(t, user)
	}
	return all
}

// wantRejected waits until a call for the whole list is rejected, or succeeds.
func wantRejected(t *testing.T, s *servertest.Server, c servertest.Credentials, want bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) { // below the rate limit
		_, err := s.Moderation.ListModerators(c.Context(), &moderatov1.ListModeratorsRequest{ChannelId: servertest.Viewer.String()})
		if isRejected := servertest.OutcomeOf(err).Reason == "OVERLOADED"; isRejected == want && (isRejected || err == nil) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("got %v, want a rejection: %t", err, want)
		}
	}
}
