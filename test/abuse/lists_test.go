package abuse_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
)

// TestSlowReadersOfLongListDoNotDelayOthers has clients request a long list over both
// transports without reading it. The server refuses most of them, keeps few lists in memory,
// and serves other callers. A client that continues to read receives the whole list, and the
// others lose it after 30 s.
func TestSlowReadersOfLongListDoNotDelayOthers(t *testing.T) {
	const maxMiB = 250
	readers, rows := scaled(12, 100), scaled(3000, 50_000)
	each(t, func(t *testing.T, s *target) {
		s.addModerators(t, rows-1) // Other has one
		idle := s.AnonymousMemory(t)
		slow := make([]slowReader, readers)
		for i, user := range servertest.AddUsers(t, s.store, readers) {
			slow[i] = s.readSlowly(t, s.as(t, user), []string{"identity", "gzip", "grpc"}[i%3])
		}
		var most int64
		watched := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			defer close(watched)
			for ; ctx.Err() == nil; sleep(ctx, 50*time.Millisecond) {
				most = max(most, s.AnonymousMemory(t))
			}
		}()
		took := s.probe(t, s.as(t, servertest.Other), scaled(time.Second, 10*time.Second))
		var served, refused atomic.Int32
		var group sync.WaitGroup
		for _, read := range slow[:readers/3] { // the others never read
			group.Go(func() {
				switch got, err := read(); {
				case errors.Is(err, errRefused):
					refused.Add(1)
				case err == nil && got == rows:
					served.Add(1)
				default:
					t.Errorf("a reader that continues: got %d rows and %v, want %d, or OVERLOADED", got, err, rows)
				}
			})
		}
		group.Wait()
		cancel()
		<-watched
		t.Logf("%d readers of %d rows: %d MiB of anonymous memory, %d before; other reads: p99 %s; of those that continued, %d had the list and %d were refused",
			readers, rows, most>>20, idle>>20, process.Percentile(took, .99), served.Load(), refused.Load())
		if isSoak() && most>>20 >= maxMiB {
			t.Errorf("got %d MiB of anonymous memory, want less than %d", most>>20, maxMiB)
		}
		if isSoak() && (served.Load() == 0 || refused.Load() == 0) {
			t.Errorf("%d readers had the list and %d were refused, want some of both", served.Load(), refused.Load())
		}
		if isSoak() {
			s.wantListAfterStalledReaders(t)
		}
	})
}

// wantListAfterStalledReaders has clients stop reading the list. Others get it once these had
// their time.
func (s *target) wantListAfterStalledReaders(t *testing.T) {
	t.Helper()
	for i, user := range servertest.AddUsers(t, s.store, 5) {
		s.readSlowly(t, s.as(t, user), []string{"identity", "grpc"}[i%2])
	}
	isRefused := false
	for began, c := time.Now(), s.as(t, servertest.Viewer); ; sleep(t.Context(), 100*time.Millisecond) {
		status, text := s.request(t, c, "GET", moderatorsOfOther, "")
		took := time.Since(began)
		if isRefused = isRefused || status != http.StatusOK; isRefused && status == http.StatusOK {
			t.Logf("the list was free %s after clients that do not read it", took)
			return
		}
		if took > 40*time.Second {
			t.Fatalf("%s after clients that do not read: got %d %.200s", took, status, text)
		}
	}
}

// moderatorsOfOther is the list that slow readers request.
var moderatorsOfOther = "/v1/moderation/moderators?channelId=" + servertest.Other.String()

// addModerators adds moderators to Other's channel.
func (s *target) addModerators(t *testing.T, n int) {
	t.Helper()
	users := servertest.AddUsers(t, s.store, n)
	records := make([]*platformv1.Record, n)
	for i, id := range users {
		records[i] = &platformv1.Record{Kind: &platformv1.Record_Role{Role: &platformv1.RoleRecord{
			ChannelId: servertest.Other.String(), UserId: id.String(), Role: "moderator",
		}}}
	}
	servertest.Import(t, s.store, records...)
}

// slowReader continues to read the response to a request that was sent earlier. It returns
// the number of rows.
type slowReader func() (rows int, err error)

// errRefused is the error of a request that the server refused with OVERLOADED.
var errRefused = errors.New("refused")

// readSlowly requests the list with an encoding over REST, or over gRPC.
func (s *target) readSlowly(t *testing.T, c servertest.Credentials, encoding string) slowReader {
	t.Helper()
	if encoding == "grpc" {
		return s.receiveSlowly(t, c)
	}
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.REST)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(32 << 10); err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.REST+moderatorsOfOther, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.Token)
	r.Header.Set("client-id", c.ClientID)
	r.Header.Set("Accept-Encoding", encoding)
	if err := r.Write(conn); err != nil {
		t.Fatal(err)
	}
	return func() (int, error) {
		response, err := http.ReadResponse(bufio.NewReader(conn), r)
		if err != nil {
			return 0, err
		}
		defer func() { _ = response.Body.Close() }()
		text, err := decoded(response)
		if response.StatusCode == http.StatusServiceUnavailable && strings.Contains(text, "OVERLOADED") {
			err = errRefused
		}
		return strings.Count(text, `"slug":"`), err
	}
}

// receiveSlowly requests the list over gRPC. The client answers PINGs, but allows the server
// to send 64 KiB only.
func (s *target) receiveSlowly(t *testing.T, c servertest.Credentials) slowReader {
	t.Helper()
	conn, err := grpc.NewClient(s.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithStaticStreamWindowSize(64<<10))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	stream, err := conn.NewStream(c.Context(), &grpc.StreamDesc{ServerStreams: true}, moderatov1.ModerationService_ListModerators_FullMethodName, grpc.MaxCallRecvMsgSize(64<<20))
	if err == nil {
		err = errors.Join(stream.SendMsg(&moderatov1.ListModeratorsRequest{ChannelId: servertest.Other.String()}), stream.CloseSend())
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() (int, error) {
		var response moderatov1.ListModeratorsResponse
		err := stream.RecvMsg(&response)
		if servertest.OutcomeOf(err).Reason == "OVERLOADED" {
			err = errRefused
		}
		return len(response.GetModerators()), err
	}
}

func decoded(response *http.Response) (string, error) {
	reader := io.Reader(response.Body)
	if response.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(reader)
		if err != nil {
			return "", err
		}
		reader = unzipped
	}
	body, err := io.ReadAll(reader)
	return string(body), err
}
