package standing

import (
	"context"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
)

// Ids of the tests.
var (
	channel1 = uuid.UUID{0xc, 1}
	channel2 = uuid.UUID{0xc, 2}
	user1    = uuid.UUID{0xa, 1}
	user2    = uuid.UUID{0xa, 2}
)

// serverAhead is how much the clock of the fake server is ahead of the test's.
const serverAhead = time.Hour

func serverTime() int64 { return time.Now().Add(serverAhead).UnixMilli() }

// fakeServer is a connection to a server that the test plays.
type fakeServer struct {
	streams chan *fakeStream
	// answer answers GetStanding.
	answer func(context.Context, *platformv1.GetStandingRequest) (*platformv1.GetStandingResponse, error)
}

func newFakeServer() *fakeServer {
	return &fakeServer{streams: make(chan *fakeStream, 100)}
}

func (f *fakeServer) Invoke(ctx context.Context, _ string, args, reply any, _ ...grpc.CallOption) error {
	response, err := f.answer(ctx, args.(*platformv1.GetStandingRequest))
	if err == nil {
		proto.Merge(reply.(proto.Message), response)
	}
	return err
}

func (f *fakeServer) NewStream(ctx context.Context, _ *grpc.StreamDesc, _ string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	s := &fakeStream{ctx: ctx, received: make(chan *platformv1.WatchStandingsRequest, 100), responses: make(chan any, 100)}
	f.streams <- s
	return s, nil
}

// fakeStream is a stream of the fake server.
type fakeStream struct {
	ctx       context.Context
	received  chan *platformv1.WatchStandingsRequest
	responses chan any
}

func (s *fakeStream) Header() (metadata.MD, error) { return nil, nil }
func (s *fakeStream) Trailer() metadata.MD         { return nil }
func (s *fakeStream) CloseSend() error             { return nil }
func (s *fakeStream) Context() context.Context     { return s.ctx }

func (s *fakeStream) SendMsg(m any) error {
	if s.ctx.Err() != nil {
		return io.EOF
	}
	s.received <- proto.CloneOf(m.(*platformv1.WatchStandingsRequest))
	return nil
}

func (s *fakeStream) RecvMsg(m any) error {
	select {
	case response := <-s.responses:
		if err, ok := response.(error); ok {
			return err
		}
		proto.Merge(m.(proto.Message), response.(proto.Message))
		return nil
	case <-s.ctx.Done():
		return status.FromContextError(s.ctx.Err()).Err()
	}
}

// send sends a response at the present time, and waits until it is applied.
func (s *fakeStream) send(r *platformv1.WatchStandingsResponse) {
	if r.ServerTime == 0 {
		r.ServerTime = serverTime()
	}
	s.responses <- r
	synctest.Wait()
}

// fail ends the stream.
func (s *fakeStream) fail(err error) {
	s.responses <- err
	synctest.Wait()
}

// subscription returns the first request.
func (s *fakeStream) subscription() *platformv1.StandingsSubscription {
	return (<-s.received).GetSubscribe()
}

// snapshot sends a complete snapshot with bans in channel1.
func (s *fakeStream) snapshot(cursor string, banned ...uuid.UUID) {
	s.send(&platformv1.WatchStandingsResponse{Beginning: &platformv1.StandingsBeginning{IsSnapshot: true}})
	s.part(banned...)
	s.send(&platformv1.WatchStandingsResponse{IsComplete: true, Cursor: cursor, AsOf: serverTime()})
}

// part sends a part of a snapshot.
func (s *fakeStream) part(banned ...uuid.UUID) {
	bans := &platformv1.StandingsBans{ChannelId: channel1[:]}
	for _, user := range banned {
		bans.UserIds = append(bans.UserIds, user[:]...)
		bans.BannedAt = append(bans.BannedAt, serverTime())
	}
	s.send(&platformv1.WatchStandingsResponse{Snapshot: &platformv1.StandingsSnapshot{Bans: []*platformv1.StandingsBans{bans}}})
}

// change sends changes.
func (s *fakeStream) change(cursor string, changes ...*platformv1.StandingChange) {
	s.send(&platformv1.WatchStandingsResponse{Cursor: cursor, AsOf: serverTime(), Changes: changes})
}

// live keeps a stream alive until the test says stop.
func (s *fakeStream) live(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(min(time.Second, time.Until(end)))
		s.change("")
	}
}

// Changes of user1 in channel1.
func changeOf(kind platformv1.StandingChangeKind, expiresAt int64) *platformv1.StandingChange {
	return &platformv1.StandingChange{Kind: kind, ChannelId: channel1[:], UserId: user1[:], ExpiresAt: expiresAt}
}

const (
	ban            = platformv1.StandingChangeKind_STANDING_CHANGE_KIND_BAN
	unban          = platformv1.StandingChangeKind_STANDING_CHANGE_KIND_UNBAN
	mute           = platformv1.StandingChangeKind_STANDING_CHANGE_KIND_MUTE
	unmute         = platformv1.StandingChangeKind_STANDING_CHANGE_KIND_UNMUTE
	roleAdd        = platformv1.StandingChangeKind_STANDING_CHANGE_KIND_ROLE_ADD
	roleRemove     = platformv1.StandingChangeKind_STANDING_CHANGE_KIND_ROLE_REMOVE
	userErased     = platformv1.StandingChangeKind_STANDING_CHANGE_KIND_USER_ERASED
	channelDeleted = platformv1.StandingChangeKind_STANDING_CHANGE_KIND_CHANNEL_DELETED
	channelCreated = platformv1.StandingChangeKind_STANDING_CHANGE_KIND_CHANNEL_CREATED
	messageCheck   = platformv1.StandingChangeKind_STANDING_CHANGE_KIND_MESSAGE_CHECK
)

var errUnavailable = status.Error(codes.Unavailable, "the server shuts down")

// start returns a client of a fake server that watches channel1 and channel2.
func start(t *testing.T, changes ...func(*Options)) (*Client, *fakeServer) {
	t.Helper()
	f := newFakeServer()
	o := Options{Name: "chat-1", Channels: []uuid.UUID{channel1, channel2}}
	for _, change := range changes {
		change(&o)
	}
	c, err := New(t.Context(), f, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, f
}

// inBubble runs a test with a fake clock.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

func want(t *testing.T, c *Client, what string, channel, user uuid.UUID, verdict Verdict, source Source) {
	t.Helper()
	if got := c.Check(channel, user); got.Verdict != verdict || got.Source != source {
		t.Errorf("%s: %s from %s, want %s from %s", what, got.Verdict, got.Source, verdict, source)
	}
}

// wantAck waits for an acknowledgement.
func (s *fakeStream) wantAck(t *testing.T, cursor string, slowest int64) {
	t.Helper()
	synctest.Wait()
	select {
	case r := <-s.received:
		if a := r.GetAcknowledge(); a.GetCursor() != cursor || a.GetSlowestMilliseconds() != slowest {
			t.Errorf("got the acknowledgement %v, want %s after %d ms", a, cursor, slowest)
		}
	default:
		t.Errorf("no acknowledgement of %s", cursor)
	}
}

func (s *fakeStream) wantNoAck(t *testing.T) {
	t.Helper()
	synctest.Wait()
	select {
	case r := <-s.received:
		t.Errorf("unexpected %v", r)
	default:
	}
}

func channelStrings(ids ...uuid.UUID) (texts []string) {
	for _, id := range ids {
		texts = append(texts, id.String())
	}
	slices.Sort(texts)
	return texts
}
