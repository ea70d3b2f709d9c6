package paging_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store/storetest"
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

// listStalled has clients call for a list that they do not receive until resumed is
// closed. It returns when they have all called, with how to wait for their ends.
func listStalled(t *testing.T, s *servertest.Server, c servertest.Credentials, clients int, resumed <-chan struct{}) (wait func() []error) {
	t.Helper()
	var group sync.WaitGroup
	errs := make([]error, clients)
	for i := range clients {
		stall := make(chan struct{})
		conn, err := grpc.NewClient(s.GRPCAddr, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithStaticStreamWindowSize(64<<10),
			grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) {
				conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
				return stallingConn{conn, resumed, stall}, err
			}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		client := moderatov1.NewModerationServiceClient(conn)
		request := &moderatov1.ListModeratorsRequest{ChannelId: servertest.Viewer.String()}
		if _, err := client.ListModerators(c.Context(), &moderatov1.ListModeratorsRequest{ChannelId: servertest.Viewer.String(), Limit: new(int32(1))}); err != nil {
			t.Fatal(err)
		}
		close(stall)
		group.Go(func() { _, errs[i] = client.ListModerators(c.Context(), request) })
	}
	return func() []error {
		group.Wait()
		return errs
	}
}

// gRPC keeps a response in memory until its client has received it. So few long lists
// are under way at once, and clients that receive slowly hold up nothing else.
func TestFewLongListsWaitForSlowClients(t *testing.T) {
	s, want := startWithModerators(t, storetest.SQLite(t), 2500, 50_000)
	service, owner := s.AsService(t), s.As(t, servertest.Owner)
	resumed := make(chan struct{})
	resume := sync.OnceFunc(func() { close(resumed) })
	wait := listStalled(t, s, service, 4, resumed)
	t.Cleanup(resume) // before the connections are closed

	overloaded := func() bool {
		_, err := s.Moderation.ListModerators(owner.Context(), &moderatov1.ListModeratorsRequest{ChannelId: servertest.Viewer.String()})
		return servertest.OutcomeOf(err).Reason == "OVERLOADED"
	}
	for deadline := time.Now().Add(20 * time.Second); !overloaded(); {
		if time.Now().After(deadline) {
			t.Fatal("as many clients as may be receive a long list: the next one is not rejected")
		}
	}
	if rows := listed(t, s.REST(t, owner, "GET", path+"?"+query.Encode(), "")); len(rows) != len(want) {
		t.Errorf("the list over REST: got %d rows, want %d", len(rows), len(want))
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
