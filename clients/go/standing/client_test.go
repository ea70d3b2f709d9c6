package standing

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
)

// TestChanges applies each kind of change twice: a repeat changes nothing.
func TestChanges(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, f := start(t)
		s := <-f.streams
		s.snapshot("1", user2)
		role := func(kind platformv1.StandingChangeKind, r platformv1.Role) *platformv1.StandingChange {
			change := changeOf(kind, 0)
			change.Role = r
			return change
		}
		later := serverTime() + time.Hour.Milliseconds()
		ofChannel := func(kind platformv1.StandingChangeKind, until int64) *platformv1.StandingChange {
			return &platformv1.StandingChange{Kind: kind, ChannelId: channel1[:], ExpiresAt: until}
		}
		for _, step := range []struct {
			what    string
			change  *platformv1.StandingChange
			verdict Verdict
			roles   Roles
			other   Verdict // of user2, who is banned
		}{
			{"VIP", role(roleAdd, platformv1.Role_ROLE_VIP), Allowed, VIP, Banned},
			{"moderator", role(roleAdd, platformv1.Role_ROLE_MODERATOR), Allowed, VIP | Moderator, Banned},
			{"an unknown role", role(roleAdd, 99), Allowed, VIP | Moderator, Banned},
			{"an unknown kind", changeOf(99, 0), Allowed, VIP | Moderator, Banned},
			{"mute", changeOf(mute, later), Muted, VIP | Moderator, Banned},
			{"ban", changeOf(ban, 0), Banned, VIP | Moderator, Banned},
			{"timed ban", changeOf(ban, later), Banned, VIP | Moderator, Banned},
			{"no VIP", role(roleRemove, platformv1.Role_ROLE_VIP), Banned, Moderator, Banned},
			{"unban", changeOf(unban, 0), Muted, Moderator, Banned},
			{"unmute", changeOf(unmute, 0), Allowed, Moderator, Banned},
			{"message check", ofChannel(messageCheck, later), PostFirst, Moderator, Banned},
			{"mute again", changeOf(mute, later), Muted, Moderator, Banned},
			{"no moderator", role(roleRemove, platformv1.Role_ROLE_MODERATOR), Muted, 0, Banned},
			{"no message check", ofChannel(messageCheck, 0), Muted, 0, Banned},
			{"erased", &platformv1.StandingChange{Kind: userErased, UserId: user1[:]}, Allowed, 0, Banned},
			{"deleted", ofChannel(channelDeleted, 0), ChannelNotFound, 0, ChannelNotFound},
			{"created", ofChannel(channelCreated, 0), Allowed, 0, Allowed},
			{"banned anew", changeOf(ban, 0), Banned, 0, Allowed},
		} {
			for range 2 {
				s.change("2", step.change)
				if got := c.Check(channel1, user1); got.Verdict != step.verdict || got.Roles != step.roles || got.Source != FromMemory {
					t.Errorf("%s: got %v %v", step.what, got.Verdict, got.Roles)
				}
				want(t, c, step.what+": the other user", channel1, user2, step.other, FromMemory)
				want(t, c, step.what+": another channel", channel2, user1, Allowed, FromMemory)
			}
		}
		if got := c.Check(channel1, channel1); got.Roles != Owner || got.Roles.String() != "owner" {
			t.Errorf("the owner has the roles %q", got.Roles)
		}
	})
}

// TestDeletionsTogether has a ban between deletions, which keep their order.
func TestDeletionsTogether(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, f := start(t)
		s := <-f.streams
		s.snapshot("1", user1, user2)
		s.change("2",
			&platformv1.StandingChange{Kind: userErased, UserId: user1[:]},
			&platformv1.StandingChange{Kind: channelDeleted, ChannelId: channel2[:]},
			changeOf(ban, 0),
			&platformv1.StandingChange{Kind: userErased, UserId: user2[:]})
		want(t, c, "banned after the erasure", channel1, user1, Banned, FromMemory)
		want(t, c, "erased", channel1, user2, Allowed, FromMemory)
		want(t, c, "deleted", channel2, user1, ChannelNotFound, FromMemory)
	})
}

// TestEnds has a ban and a mute that end by the server's clock, although that is an hour
// ahead and responses take their time.
func TestEnds(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, f := start(t)
		s := <-f.streams
		s.snapshot("1")
		end := serverTime() + 30_000
		s.change("1", changeOf(mute, end))
		got := c.Check(channel1, user1)
		if at, ok := got.MuteExpiresAt(); got.Verdict != Muted || !ok || at.UnixMilli() != end {
			t.Errorf("muted: %v until %v", got.Verdict, at)
		}
		s.change("2", changeOf(ban, end-10_000))
		got = c.Check(channel1, user1)
		if at, ok := got.BanExpiresAt(); got.Verdict != Banned || !ok || at.UnixMilli() != end-10_000 {
			t.Errorf("banned: %v until %v", got.Verdict, at)
		}
		s.live(20*time.Second - time.Millisecond)
		s.send(&platformv1.WatchStandingsResponse{ServerTime: serverTime() - 700, AsOf: serverTime() - 700})
		want(t, c, "1 ms before the end of the ban", channel1, user1, Banned, FromMemory)
		time.Sleep(time.Millisecond)
		want(t, c, "at the end of the ban", channel1, user1, Muted, FromMemory)
		s.live(10*time.Second - time.Millisecond)
		want(t, c, "1 ms before the end of the mute", channel1, user1, Muted, FromMemory)
		time.Sleep(time.Millisecond)
		want(t, c, "at the end of the mute", channel1, user1, Allowed, FromMemory)
		s.change("3", changeOf(ban, 0))
		if _, ok := c.Check(channel1, user1).BanExpiresAt(); ok {
			t.Error("a ban without an end has one")
		}
	})
}

// TestClockFollowsDrift has a server whose clock is set back.
func TestClockFollowsDrift(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newClock()
		c.observe(serverTime())
		for range 3 {
			time.Sleep(clockWindow)
			c.observe(serverTime() - 5000)
		}
		if got := c.now() - serverTime(); got != -5000 {
			t.Errorf("the clock differs by %d ms, want -5000", got)
		}
	})
}

// TestServerClockIsSetBack has a server whose clock is set back by an hour, and which then
// confirms nothing: the memory becomes stale as ever.
func TestServerClockIsSetBack(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, f := start(t)
		s := <-f.streams
		s.snapshot("1", user1)
		confirm := func(asOf int64) {
			s.send(&platformv1.WatchStandingsResponse{ServerTime: serverTime() - time.Hour.Milliseconds(), AsOf: asOf})
		}
		for range 150 { // the estimate of the server's time follows within two windows
			time.Sleep(time.Second)
			confirm(serverTime() - time.Hour.Milliseconds())
		}
		want(t, c, "confirmed by the new clock", channel1, user1, Banned, FromMemory)
		if got := c.Staleness(); got != 0 {
			t.Errorf("the staleness is %s", got)
		}
		for range 10 {
			time.Sleep(time.Second)
			confirm(0)
		}
		synctest.Wait()
		want(t, c, "not confirmed", channel1, user1, Unknown, FromPolicy)
		if got := c.Staleness(); got != 10*time.Second {
			t.Errorf("the staleness is %s", got)
		}
	})
}

// TestPolicies checks what is not known: before the snapshot, in another channel, and when
// the memory is too old.
func TestPolicies(t *testing.T) {
	for _, test := range []struct {
		options Options
		verdict Verdict
		source  Source
	}{
		{Options{}, Unknown, FromPolicy},
		{Options{OnFailure: FailOpen}, Allowed, FromPolicy},
		{Options{OnFailure: AskServer}, Banned, FromServer},
	} {
		t.Run(test.options.OnFailure.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				c, f := start(t, func(o *Options) { o.OnFailure, o.MaxStaleness = test.options.OnFailure, 5*time.Second })
				f.answer = func(context.Context, *platformv1.GetStandingRequest) (*platformv1.GetStandingResponse, error) {
					return &platformv1.GetStandingResponse{IsBanned: true}, nil
				}
				want(t, c, "before the stream", channel1, user1, test.verdict, test.source)
				s := <-f.streams
				s.send(&platformv1.WatchStandingsResponse{Beginning: &platformv1.StandingsBeginning{IsSnapshot: true}})
				s.part(user2)
				want(t, c, "in the snapshot", channel1, user1, test.verdict, test.source)
				s.send(&platformv1.WatchStandingsResponse{IsComplete: true, Cursor: "1"})
				want(t, c, "before the confirmation", channel1, user1, test.verdict, test.source)
				s.change("1")
				want(t, c, "after the snapshot", channel1, user1, Allowed, FromMemory)
				want(t, c, "another channel", user2, user1, test.verdict, test.source)
				time.Sleep(5*time.Second - time.Millisecond)
				want(t, c, "before it is stale", channel1, user1, Allowed, FromMemory)
				if got := c.Staleness(); got != 5*time.Second-time.Millisecond {
					t.Errorf("the staleness is %s", got)
				}
				time.Sleep(time.Millisecond)
				synctest.Wait()
				want(t, c, "stale", channel1, user1, test.verdict, test.source)
				s.send(&platformv1.WatchStandingsResponse{AsOf: serverTime() - 4000})
				want(t, c, "confirmed", channel1, user1, Allowed, FromMemory)
				time.Sleep(time.Second)
				synctest.Wait()
				want(t, c, "stale again", channel1, user1, test.verdict, test.source)
				_ = c.Close()
				want(t, c, "closed", channel1, user1, test.verdict, test.source)
			})
		})
	}
}

// TestAsk checks what the server's answers become.
func TestAsk(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		notFound := func(reason string) error {
			st, err := status.New(codes.InvalidArgument, reason).WithDetails(&errdetails.ErrorInfo{Reason: reason, Domain: "moderato"})
			if err != nil {
				t.Fatal(err)
			}
			return st.Err()
		}
		until := time.Now().Add(time.Hour)
		c, f := start(t, func(o *Options) { o.OnFailure, o.IfUnanswered, o.MaxAsks = AskServer, FailOpen, 1 })
		for _, test := range []struct {
			response *platformv1.GetStandingResponse
			err      error
			want     Standing
		}{
			{&platformv1.GetStandingResponse{CanPost: true, Roles: []platformv1.Role{1, 2, 3, 4}}, nil, Standing{Verdict: PostFirst, Source: FromServer, Roles: Owner | Moderator | VIP | OG}},
			{&platformv1.GetStandingResponse{IsBanned: true, MuteExpiresAt: timestamppb.New(until)}, nil, Standing{Verdict: Banned, Source: FromServer, banned: forever, muted: until.UnixMilli()}},
			{&platformv1.GetStandingResponse{MuteExpiresAt: timestamppb.New(until)}, nil, Standing{Verdict: Muted, Source: FromServer, muted: until.UnixMilli()}},
			{nil, notFound("CHANNEL_NOT_FOUND"), Standing{Verdict: ChannelNotFound, Source: FromServer}},
			{nil, notFound("USER_NOT_FOUND"), Standing{Verdict: UserNotFound, Source: FromServer}},
			{nil, errUnavailable, Standing{Verdict: Allowed, Source: FromPolicy}},
		} {
			f.answer = func(_ context.Context, r *platformv1.GetStandingRequest) (*platformv1.GetStandingResponse, error) {
				if r.GetChannelId() != channel1.String() || r.GetUserId() != user1.String() {
					t.Errorf("asked for %v", r)
				}
				return test.response, test.err
			}
			if got := c.Check(channel1, user1); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		}
		f.answer = func(ctx context.Context, _ *platformv1.GetStandingRequest) (*platformv1.GetStandingResponse, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		began := time.Now()
		answered := make(chan Standing, 3)
		for range cap(answered) { // one asks, and the others wait for it
			go func() { answered <- c.Check(channel1, user1) }()
		}
		for range cap(answered) {
			if got := <-answered; got != (Standing{Verdict: Allowed}) {
				t.Errorf("got %+v without an answer", got)
			}
		}
		if took := time.Since(began); took != DefaultAskTimeout {
			t.Errorf("Check took %s", took)
		}
		if got := c.Stats(); got.Unanswered != 4 || got.FromPolicy != 4 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestWait(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var ended []error
		c, f := start(t, func(o *Options) { o.OnError = func(err error) { ended = append(ended, err) } })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("no snapshot: %v", err)
		}
		refusal := status.Error(codes.Unauthenticated, "the token is not valid")
		(<-f.streams).fail(refusal)
		if err := c.Wait(t.Context()); !errors.Is(err, refusal) || !slices.Equal(ended, []error{refusal}) {
			t.Errorf("refused: %v, ended with %v", err, ended)
		}
		s := <-f.streams
		s.snapshot("1", user1)
		if err := c.Wait(t.Context()); err != nil {
			t.Errorf("complete: %v", err)
		}
		_ = c.Close()
		if err := c.Wait(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("closed: %v", err)
		}
	})
}

func TestOptions(t *testing.T) {
	t.Parallel()
	one := []uuid.UUID{channel1}
	for what, o := range map[string]Options{
		"no name":            {Channels: one},
		"a bad name":         {Name: "chat 1", Channels: one},
		"no channels":        {Name: "chat"},
		"both":               {Name: "chat", Channels: one, AllChannels: true},
		"too many channels":  {Name: "chat", Channels: make([]uuid.UUID, MaxChannels+1)},
		"a negative bound":   {Name: "chat", Channels: one, MaxStaleness: -1},
		"an unknown policy":  {Name: "chat", Channels: one, OnFailure: 3},
		"asking without end": {Name: "chat", Channels: one, OnFailure: AskServer, IfUnanswered: AskServer},
	} {
		if _, err := New(t.Context(), newFakeServer(), o); err == nil {
			t.Errorf("%s is accepted", what)
		}
	}
}
