package standings_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/apierr/apierrtest"
	"github.com/moderato-live/moderato/test/servertest"
)

type pair struct{ channelID, userID uid.ID }

type until struct{ since, end int64 }

// view is the memory of a chat server: the state that it received.
type view struct {
	bans    map[pair]until
	mutes   map[pair]int64
	roles   map[pair]map[platformv1.Role]bool
	erased  map[uid.ID]bool
	missing map[uid.ID]bool
	checks  map[uid.ID]int64
}

func newView() *view {
	return &view{
		bans: map[pair]until{}, mutes: map[pair]int64{}, roles: map[pair]map[platformv1.Role]bool{},
		erased: map[uid.ID]bool{}, missing: map[uid.ID]bool{}, checks: map[uid.ID]int64{},
	}
}

func ids(joined []byte) []uid.ID {
	var all []uid.ID
	for id := range slices.Chunk(joined, 16) {
		all = append(all, uid.ID(id))
	}
	return all
}

func (v *view) snapshot(m *platformv1.StandingsSnapshot) {
	for _, b := range m.GetBans() {
		for i, id := range ids(b.GetUserIds()) {
			at := until{since: b.GetBannedAt()[i]}
			if len(b.GetExpiresAt()) > 0 {
				at.end = b.GetExpiresAt()[i]
			}
			v.bans[pair{uid.ID(b.GetChannelId()), id}] = at
		}
	}
	for _, b := range m.GetMutes() {
		for i, id := range ids(b.GetUserIds()) {
			v.mutes[pair{uid.ID(b.GetChannelId()), id}] = b.GetExpiresAt()[i]
		}
	}
	for _, b := range m.GetRoles() {
		for i, id := range ids(b.GetUserIds()) {
			v.role(pair{uid.ID(b.GetChannelId()), id})[b.GetRoles()[i]] = true
		}
	}
}

func (v *view) role(p pair) map[platformv1.Role]bool {
	if v.roles[p] == nil {
		v.roles[p] = map[platformv1.Role]bool{}
	}
	return v.roles[p]
}

func (v *view) apply(c *platformv1.StandingChange) {
	var p pair
	copy(p.channelID[:], c.GetChannelId())
	copy(p.userID[:], c.GetUserId())
	switch c.GetKind() {
	case platformv1.StandingChangeKind_STANDING_CHANGE_KIND_BAN:
		v.bans[p] = until{c.GetBannedAt(), c.GetExpiresAt()}
	case platformv1.StandingChangeKind_STANDING_CHANGE_KIND_UNBAN:
		delete(v.bans, p)
	case platformv1.StandingChangeKind_STANDING_CHANGE_KIND_MUTE:
		v.mutes[p] = c.GetExpiresAt()
	case platformv1.StandingChangeKind_STANDING_CHANGE_KIND_UNMUTE:
		delete(v.mutes, p)
	case platformv1.StandingChangeKind_STANDING_CHANGE_KIND_ROLE_ADD:
		v.role(p)[c.GetRole()] = true
	case platformv1.StandingChangeKind_STANDING_CHANGE_KIND_ROLE_REMOVE:
		delete(v.role(p), c.GetRole())
	case platformv1.StandingChangeKind_STANDING_CHANGE_KIND_USER_ERASED:
		v.erased[p.userID] = true
		v.forget(func(of pair) bool { return of.userID == p.userID })
	case platformv1.StandingChangeKind_STANDING_CHANGE_KIND_CHANNEL_DELETED:
		v.missing[p.channelID] = true
		delete(v.checks, p.channelID)
		v.forget(func(of pair) bool { return of.channelID == p.channelID })
	case platformv1.StandingChangeKind_STANDING_CHANGE_KIND_CHANNEL_CREATED:
		delete(v.missing, p.channelID)
	case platformv1.StandingChangeKind_STANDING_CHANGE_KIND_MESSAGE_CHECK:
		v.checks[p.channelID] = c.GetExpiresAt()
	default:
		panic(c.GetKind())
	}
}

func (v *view) forget(is func(pair) bool) {
	for p := range v.bans {
		if is(p) {
			delete(v.bans, p)
		}
	}
	for p := range v.mutes {
		if is(p) {
			delete(v.mutes, p)
		}
	}
	for p := range v.roles {
		if is(p) {
			delete(v.roles, p)
		}
	}
}

// standing answers like GetStanding, from memory.
func (v *view) standing(p pair, now instant.Instant) (*platformv1.GetStandingResponse, string) {
	switch {
	case v.missing[p.channelID]:
		return nil, "CHANNEL_NOT_FOUND"
	case v.erased[p.userID]:
		return nil, "USER_NOT_FOUND"
	}
	r := &platformv1.GetStandingResponse{CanPost: true}
	if b, isBanned := v.bans[p]; isBanned && (b.end == 0 || int64(now) < b.end) {
		r.IsBanned, r.CanPost, r.BannedAt = true, false, instant.Instant(b.since).Proto()
	}
	if end := v.mutes[p]; int64(now) < end {
		r.CanPost, r.MuteExpiresAt = false, instant.Instant(end).Proto()
	}
	if p.channelID == p.userID {
		r.Roles = append(r.Roles, platformv1.Role_ROLE_OWNER)
	}
	for role := range v.roles[p] {
		r.Roles = append(r.Roles, role)
	}
	slices.Sort(r.Roles)
	return r, "OK"
}

// chatServer is a chat server that follows standings.
type chatServer struct {
	t      testing.TB
	cancel context.CancelFunc
	stream grpc.BidiStreamingClient[platformv1.WatchStandingsRequest, platformv1.WatchStandingsResponse]

	mu        sync.Mutex
	view      *view
	cursor    string
	asOf      int64
	beginning *platformv1.StandingsBeginning
	complete  int
	early     int // cursors before the state was complete
	changes   int
	bare      int // responses with nothing but a time
	largest   int // the most changes of a message
	err       error
	acks      bool // whether it acknowledges

	confirmations atomic.Int64 // responses that only confirm
}

// watch opens a stream.
func watch(t testing.TB, s *servertest.Server, c servertest.Credentials, asked *platformv1.StandingsSubscription, from *view) *chatServer {
	t.Helper()
	ctx, cancel := context.WithCancel(c.Context())
	t.Cleanup(cancel)
	stream, err := s.Chat.WatchStandings(ctx)
	if err != nil {
		t.Fatal(err)
	}
	asked.SubscriberName = cmp.Or(asked.GetSubscriberName(), "chat-1")
	err = stream.Send(&platformv1.WatchStandingsRequest{Request: &platformv1.WatchStandingsRequest_Subscribe{Subscribe: asked}})
	if err != nil && !errors.Is(err, io.EOF) { // the server's error is in what Recv returns
		t.Fatal(err)
	}
	if from == nil {
		from = newView()
	}
	w := &chatServer{t: t, cancel: cancel, stream: stream, view: from, cursor: asked.GetCursor(), acks: true}
	go w.receive()
	return w
}

func (w *chatServer) receive() {
	for {
		m, err := w.stream.Recv()
		if err != nil {
			w.mu.Lock()
			w.err = err
			w.mu.Unlock()
			return
		}
		w.handle(m)
	}
}

func (w *chatServer) handle(m *platformv1.WatchStandingsResponse) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if b := m.GetBeginning(); b != nil {
		if w.beginning != nil {
			w.t.Error("the stream begins twice")
		}
		if w.beginning = b; b.GetIsSnapshot() {
			w.view = newView()
		}
	}
	if m.GetSnapshot() != nil {
		w.view.snapshot(m.GetSnapshot())
	}
	w.largest = max(w.largest, len(m.GetChanges()))
	slowest := int64(0)
	for _, c := range m.GetChanges() {
		w.view.apply(c)
		w.changes++
		if at := c.GetOccurredAt(); at != 0 {
			slowest = max(slowest, m.GetServerTime()-at, 1)
		}
	}
	if m.GetIsComplete() {
		w.complete++
	}
	if proto.Equal(m, &platformv1.WatchStandingsResponse{ServerTime: m.GetServerTime()}) {
		w.bare++
	}
	if m.GetCursor() == "" {
		return
	}
	if w.complete == 0 {
		w.early++
	}
	if m.GetAsOf() != 0 && len(m.GetChanges()) == 0 {
		w.confirmations.Add(1)
	}
	w.cursor = m.GetCursor()
	w.asOf = max(w.asOf, m.GetAsOf())
	if w.acks {
		_ = w.stream.Send(acknowledge(w.cursor, slowest))
	}
}

func acknowledge(cursor string, slowest int64) *platformv1.WatchStandingsRequest {
	return &platformv1.WatchStandingsRequest{Request: &platformv1.WatchStandingsRequest_Acknowledge{
		Acknowledge: &platformv1.StandingsAcknowledgement{Cursor: cursor, SlowestMilliseconds: slowest},
	}}
}

// stop ends the stream and returns the state with its cursor.
func (w *chatServer) stop() (*view, string) {
	w.cancel()
	w.waitFor("the end", func() bool { return w.err != nil })
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.view, w.cursor
}

// waitFor waits until a condition holds, with the lock held.
func (w *chatServer) waitFor(what string, is func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(servertest.Slack); ; time.Sleep(2 * time.Millisecond) {
		w.mu.Lock()
		done, err := is(), w.err
		w.mu.Unlock()
		switch {
		case done:
			return
		case err != nil:
			w.t.Fatalf("waiting for %s: the stream ended with %v", what, err)
		case time.Now().After(deadline):
			w.t.Fatalf("%s does not come", what)
		}
	}
}

// settle waits until the chat server has everything that was committed before.
func (w *chatServer) settle(s *servertest.Server) instant.Instant {
	w.t.Helper()
	now, err := s.Store.Clock.Now(context.Background(), s.Store.Read)
	if err != nil {
		w.t.Fatal(err)
	}
	w.waitFor("the state of the present", func() bool { return w.complete > 0 && w.asOf >= int64(now) })
	if w.complete != 1 || w.early > 0 {
		w.t.Errorf("the state was complete %d times, and %d cursors came before", w.complete, w.early)
	}
	return now
}

// wantSame compares the answers of a chat server with those of a server.
func (w *chatServer) wantSame(s *servertest.Server, caller servertest.Credentials, channels, users []uid.ID) {
	w.t.Helper()
	now := w.settle(s)
	for _, channelID := range channels {
		for _, userID := range users {
			want, err := s.Chat.GetStanding(caller.Context(), &platformv1.GetStandingRequest{ChannelId: channelID.String(), UserId: userID.String()})
			w.mu.Lock()
			got, reason := w.view.standing(pair{channelID, userID}, now)
			w.mu.Unlock()
			if diff := gocmp.Diff(want, got, protocmp.Transform()); diff != "" || reason != reasonOf(err) {
				w.t.Errorf("channel %s, user %s: want %s, got %s (-server +chat server):\n%s", channelID, userID, reasonOf(err), reason, diff)
			}
		}
	}
}

// reason waits for the end of the stream and returns its reason.
func (w *chatServer) reason() string {
	w.t.Helper()
	w.waitFor("the end of the stream", func() bool { return w.err != nil })
	return reasonOf(w.err)
}

func reasonOf(err error) string {
	if err == nil {
		return "OK"
	}
	return apierr.Code(apierrtest.Of(err).Reason)
}

func named(channels ...uid.ID) *platformv1.StandingsSubscription {
	asked := &platformv1.StandingsSubscription{}
	for _, id := range channels {
		asked.ChannelIds = append(asked.ChannelIds, id.String())
	}
	return asked
}

func everything() *platformv1.StandingsSubscription {
	return &platformv1.StandingsSubscription{AllChannels: true}
}

func withCursor(asked *platformv1.StandingsSubscription, cursor string) *platformv1.StandingsSubscription {
	asked.Cursor = cursor
	return asked
}
