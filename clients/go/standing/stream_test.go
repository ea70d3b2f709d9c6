package standing

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
)

// resumed begins a stream that continues at the cursor.
func (s *fakeStream) resumed() {
	s.send(&platformv1.WatchStandingsResponse{Beginning: &platformv1.StandingsBeginning{}})
}

func (s *fakeStream) wantCursor(t *testing.T, cursor string) {
	t.Helper()
	got := s.subscription()
	if got.GetCursor() != cursor || got.GetSubscriberName() != "chat-1" || fmt.Sprint(got.GetChannelIds()) != fmt.Sprint(channelStrings(channel1, channel2)) {
		t.Errorf("got the subscription %v, want the cursor %q", got, cursor)
	}
}

// TestResume interrupts a stream. The memory answers meanwhile, and changes that are
// repeated change nothing.
func TestResume(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, f := start(t)
		s := <-f.streams
		s.wantCursor(t, "")
		s.snapshot("1", user2)
		s.change("2", changeOf(ban, 0))
		s.fail(errUnavailable)
		want(t, c, "interrupted", channel1, user1, Banned, FromMemory)
		if got := c.Stats(); got.IsConnected || got.LastError == nil {
			t.Errorf("interrupted: %+v", got)
		}
		began := time.Now()
		s = <-f.streams
		if wait := time.Since(began); wait > 2*minReconnectWait {
			t.Errorf("the stream is opened again after %s", wait)
		}
		s.wantCursor(t, "2")
		s.resumed()
		s.send(&platformv1.WatchStandingsResponse{Changes: []*platformv1.StandingChange{changeOf(ban, 0)}, IsComplete: true, Cursor: "3", AsOf: serverTime()})
		want(t, c, "resumed", channel1, user1, Banned, FromMemory)
		want(t, c, "resumed", channel1, user2, Banned, FromMemory)
		s.change("4", changeOf(unban, 0))
		want(t, c, "changed", channel1, user1, Allowed, FromMemory)
		if got := c.Stats(); !got.IsConnected || got.Snapshots != 1 || got.Resumes != 1 || got.Changes != 3 {
			t.Errorf("resumed: %+v", got)
		}
	})
}

// TestNewSnapshot replaces the memory at once: until the new snapshot is complete and
// confirmed, a user who is banned in both remains banned, and the new state has what
// changed meanwhile.
func TestNewSnapshot(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, f := start(t)
		s := <-f.streams
		s.snapshot("1", user1, user2)
		s.fail(status.Error(codes.OutOfRange, "WATCHER_TOO_SLOW"))
		s = <-f.streams
		s.send(&platformv1.WatchStandingsResponse{Beginning: &platformv1.StandingsBeginning{IsSnapshot: true, IsCursorExpired: true}})
		want(t, c, "begun", channel1, user1, Banned, FromMemory)
		s.part(user1)
		s.send(&platformv1.WatchStandingsResponse{Changes: []*platformv1.StandingChange{
			{Kind: ban, ChannelId: channel2[:], UserId: user2[:]},
		}})
		want(t, c, "not complete", channel1, user1, Banned, FromMemory)
		want(t, c, "not complete, of the earlier state", channel1, user2, Banned, FromMemory)
		want(t, c, "not complete, of the new state", channel2, user2, Allowed, FromMemory)
		s.send(&platformv1.WatchStandingsResponse{IsComplete: true, Cursor: "9"})
		want(t, c, "not confirmed", channel1, user2, Banned, FromMemory)
		s.change("9")
		want(t, c, "complete", channel1, user1, Banned, FromMemory)
		want(t, c, "complete", channel1, user2, Allowed, FromMemory)
		want(t, c, "complete", channel2, user2, Banned, FromMemory)
	})
}

// TestBrokenSnapshot interrupts the snapshot that follows another: the next stream resumes
// the earlier one.
func TestBrokenSnapshot(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, f := start(t)
		s := <-f.streams
		s.snapshot("1", user1)
		s.fail(errUnavailable)
		s = <-f.streams
		s.send(&platformv1.WatchStandingsResponse{Beginning: &platformv1.StandingsBeginning{IsSnapshot: true}})
		s.part(user2)
		s.fail(errUnavailable)
		want(t, c, "interrupted", channel1, user1, Banned, FromMemory)
		want(t, c, "interrupted", channel1, user2, Allowed, FromMemory)
		s = <-f.streams
		s.wantCursor(t, "1")
		s.resumed()
		s.send(&platformv1.WatchStandingsResponse{IsComplete: true, Cursor: "2", AsOf: serverTime()})
		want(t, c, "resumed", channel1, user1, Banned, FromMemory)
		want(t, c, "resumed", channel1, user2, Allowed, FromMemory)
	})
}

// TestBrokenCatchUp interrupts a stream that repeats changes. If the next one repeated them
// on top of the memory, the last of them would be undone for a moment.
func TestBrokenCatchUp(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, f := start(t)
		s := <-f.streams
		s.snapshot("1")
		s.fail(errUnavailable)
		s = <-f.streams
		s.wantCursor(t, "1")
		s.resumed()
		s.send(&platformv1.WatchStandingsResponse{Changes: []*platformv1.StandingChange{changeOf(unban, 0), changeOf(ban, 0)}})
		s.fail(errUnavailable)
		(<-f.streams).wantCursor(t, "")
		want(t, c, "interrupted", channel1, user1, Banned, FromMemory)
	})
}

// TestNoSnapshot has a server that sends no snapshot to a client without a cursor.
func TestNoSnapshot(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		_, f := start(t)
		at := time.Now()
		(<-f.streams).resumed()
		f.wantNext(t, "no snapshot", at, 0, 2*minReconnectWait)
	})
}

// TestBadCursor has a server that refuses the cursor.
func TestBadCursor(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		_, f := start(t)
		s := <-f.streams
		s.snapshot("1")
		s.fail(errUnavailable)
		s = <-f.streams
		s.wantCursor(t, "1")
		s.fail(status.Error(codes.InvalidArgument, "CURSOR_INVALID"))
		(<-f.streams).wantCursor(t, "")
	})
}

// TestContractViolations has a server that breaks the contract: the client begins anew.
func TestContractViolations(t *testing.T) {
	snapshot := func(part *platformv1.StandingsSnapshot) *platformv1.WatchStandingsResponse {
		return &platformv1.WatchStandingsResponse{Beginning: &platformv1.StandingsBeginning{IsSnapshot: true}, Snapshot: part}
	}
	changed := func(change *platformv1.StandingChange) *platformv1.WatchStandingsResponse {
		return &platformv1.WatchStandingsResponse{Beginning: &platformv1.StandingsBeginning{}, Changes: []*platformv1.StandingChange{change}}
	}
	id, short := channel1[:], channel1[:15]
	for what, response := range map[string]*platformv1.WatchStandingsResponse{
		"no beginning":                   {},
		"a part without a snapshot":      {Beginning: &platformv1.StandingsBeginning{}, Snapshot: &platformv1.StandingsSnapshot{}},
		"a short channel id":             snapshot(&platformv1.StandingsSnapshot{Bans: []*platformv1.StandingsBans{{ChannelId: short}}}),
		"a short user id":                snapshot(&platformv1.StandingsSnapshot{Bans: []*platformv1.StandingsBans{{ChannelId: id, UserIds: short}}}),
		"more ends than bans":            snapshot(&platformv1.StandingsSnapshot{Bans: []*platformv1.StandingsBans{{ChannelId: id, UserIds: id, ExpiresAt: []int64{1, 2}}}}),
		"fewer ends than mutes":          snapshot(&platformv1.StandingsSnapshot{Mutes: []*platformv1.StandingsMutes{{ChannelId: id, UserIds: id}}}),
		"fewer roles than users":         snapshot(&platformv1.StandingsSnapshot{Roles: []*platformv1.StandingsRoles{{ChannelId: id, UserIds: id}}}),
		"a ban without a user":           changed(&platformv1.StandingChange{Kind: ban, ChannelId: id}),
		"an erasure without a user":      changed(&platformv1.StandingChange{Kind: userErased}),
		"a deletion without a channel":   changed(&platformv1.StandingChange{Kind: channelDeleted}),
		"a message check of half an id":  changed(&platformv1.StandingChange{Kind: messageCheck, ChannelId: short}),
		"a channel that is half created": changed(&platformv1.StandingChange{Kind: channelCreated, ChannelId: short}),
	} {
		t.Run(what, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				c, f := start(t)
				s := <-f.streams
				s.snapshot("1", user1)
				s.fail(errUnavailable)
				s = <-f.streams
				s.wantCursor(t, "1")
				s.send(response)
				(<-f.streams).wantCursor(t, "")
				want(t, c, "meanwhile", channel1, user1, Banned, FromMemory)
			})
		})
	}
}

// TestSilence has a server that sends nothing: the client opens the stream again, later and
// later while none begins.
func TestSilence(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		_, f := start(t)
		s := <-f.streams
		s.snapshot("1")
		at := time.Now()
		f.wantNext(t, "silence", at, maxSilence, maxSilence+2*minReconnectWait)
		var waits []time.Duration
		for range 12 {
			at = time.Now()
			s = <-f.streams
			waits = append(waits, time.Since(at))
			s.fail(errUnavailable)
		}
		if longest := waits[len(waits)-1]; longest < maxReconnectWait/2 || longest > maxReconnectWait*3/2 {
			t.Errorf("the waits are %v", waits)
		}
		s = <-f.streams
		s.snapshot("2")
		at = time.Now()
		s.fail(errUnavailable)
		f.wantNext(t, "after a complete snapshot", at, minReconnectWait/2, minReconnectWait*3/2)
	})
}

// TestBareResponses has a server that sends nothing but its time: before the state is
// complete and afterwards. The stream goes on, and the memory becomes stale.
func TestBareResponses(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, f := start(t)
		s := <-f.streams
		bare := func() {
			for range 10 {
				time.Sleep(2 * time.Second)
				s.send(&platformv1.WatchStandingsResponse{})
			}
		}
		s.send(&platformv1.WatchStandingsResponse{Beginning: &platformv1.StandingsBeginning{IsSnapshot: true}})
		s.part(user1)
		bare()
		want(t, c, "not complete", channel1, user1, Unknown, FromPolicy)
		s.send(&platformv1.WatchStandingsResponse{IsComplete: true, Cursor: "1", AsOf: serverTime()})
		want(t, c, "complete", channel1, user1, Banned, FromMemory)
		bare()
		want(t, c, "stale", channel1, user1, Unknown, FromPolicy)
		s.change("1")
		want(t, c, "confirmed", channel1, user1, Banned, FromMemory)
		if got := c.Stats(); len(f.streams) > 0 || got.LastError != nil || got.Snapshots != 1 {
			t.Errorf("the stream does not go on: %+v", got)
		}
	})
}

// wantNext waits for a stream that begins after a time between two bounds.
func (f *fakeServer) wantNext(t *testing.T, what string, since time.Time, atLeast, atMost time.Duration) {
	t.Helper()
	s := <-f.streams
	if took := time.Since(since); took < atLeast || took > atMost {
		t.Errorf("%s: the next stream begins after %s, want %s to %s", what, took, atLeast, atMost)
	}
	s.fail(errUnavailable)
}

// TestRetryAfter has a server that says when to come back.
func TestRetryAfter(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		_, f := start(t)
		st, err := status.New(codes.ResourceExhausted, "RATE_LIMITED").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(7 * time.Second)})
		if err != nil {
			t.Fatal(err)
		}
		at := time.Now()
		(<-f.streams).fail(st.Err())
		f.wantNext(t, "RATE_LIMITED", at, 7*time.Second, 7*time.Second)
	})
}

// TestAcknowledgements checks that acknowledgements are coalesced, and report the slowest
// change since the previous one.
func TestAcknowledgements(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		_, f := start(t)
		s := <-f.streams
		s.wantCursor(t, "")
		s.send(&platformv1.WatchStandingsResponse{Beginning: &platformv1.StandingsBeginning{IsSnapshot: true}})
		s.part(user1)
		s.wantNoAck(t)
		s.send(&platformv1.WatchStandingsResponse{IsComplete: true, Cursor: "1", AsOf: serverTime()})
		s.wantAck(t, "1", 0)
		for i, age := range []int64{5, 40, 20} {
			change := changeOf(ban, 0)
			change.OccurredAt = serverTime() - age
			s.change(fmt.Sprint(2+i), change)
		}
		s.wantNoAck(t)
		time.Sleep(ackInterval)
		s.wantAck(t, "4", 40)
		time.Sleep(ackInterval)
		s.change("4") // a heartbeat at the same cursor
		s.wantNoAck(t)
		s.change("5", changeOf(unban, 0))
		s.wantAck(t, "5", 0)
	})
}

// TestAllChannels knows channels that nobody named.
func TestAllChannels(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, f := start(t, func(o *Options) { o.Channels, o.AllChannels = nil, true })
		s := <-f.streams
		if got := s.subscription(); !got.GetAllChannels() || len(got.GetChannelIds()) != 0 {
			t.Errorf("got the subscription %v", got)
		}
		s.snapshot("1", user1)
		want(t, c, "banned", channel1, user1, Banned, FromMemory)
		want(t, c, "a channel without standings", channel2, user1, Allowed, FromMemory)
		s.change("2", &platformv1.StandingChange{Kind: channelDeleted, ChannelId: channel1[:]})
		want(t, c, "a deleted channel, which may exist again", channel1, user1, Allowed, FromMemory)
		synctest.Wait()
		if got := c.Stats(); got.Snapshots != 1 {
			t.Errorf("got %+v", got)
		}
	})
}
