package middleware_test

import (
	"context"
	"net/http"
	"strconv"
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server"
	"github.com/moderato-live/moderato/server/middleware"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/apierr/apierrtest"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
)

// fake is a clock that a test sets.
type fake struct{ at time.Time }

func (f *fake) now() time.Time          { return f.at }
func (f *fake) advance(d time.Duration) { f.at = f.at.Add(d) }

func newFake() *fake { return &fake{time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)} }

var viewer = &authn.Caller{Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Viewer}

func allow(t *testing.T, l *middleware.Limiter, c *authn.Caller, times int) {
	t.Helper()
	for i := range times {
		if err := l.Allow(context.Background(), c); err != nil {
			t.Fatalf("call %d: got %v, want it allowed", i+1, err)
		}
	}
}

// refuse checks that a call is rejected, and returns its RetryAfter.
func refuse(t *testing.T, l *middleware.Limiter, c *authn.Caller) time.Duration {
	t.Helper()
	err := l.Allow(context.Background(), c)
	if err == nil {
		t.Fatal("got the call allowed, want it refused")
	}
	f := apierr.Of(err)
	if f.Reason != moderatov1.Reason_REASON_RATE_LIMITED {
		t.Fatalf("got %v, want RATE_LIMITED", err)
	}
	return f.RetryAfter
}

func TestLimiterAllowsBurst(t *testing.T) {
	t.Parallel()
	for _, perMinute := range []int{1, 3, 7, 60, 1200} {
		l := middleware.NewLimiter(perMinute, newFake().now)
		allow(t, l, viewer, perMinute)
		want := time.Minute / time.Duration(perMinute)
		if got := refuse(t, l, viewer); (got - want).Abs() > time.Microsecond {
			t.Errorf("%d a minute: got RetryAfter %s, want %s", perMinute, got, want)
		}
	}
}

// A caller is served after RetryAfter, and not earlier.
func TestLimiterRefills(t *testing.T) {
	t.Parallel()
	for perMinute := 1; perMinute <= 200; perMinute++ {
		clock := newFake()
		l := middleware.NewLimiter(perMinute, clock.now)
		allow(t, l, viewer, perMinute)
		for range 3 {
			wait := refuse(t, l, viewer)
			if wait <= 0 {
				t.Fatalf("%d a minute: got RetryAfter %s, want some time", perMinute, wait)
			}
			clock.advance(wait - wait/10)
			refuse(t, l, viewer)
			clock.advance(wait / 10)
			allow(t, l, viewer, 1)
		}
		clock.advance(time.Hour) // the bucket never exceeds its capacity
		allow(t, l, viewer, perMinute)
		refuse(t, l, viewer)
	}
}

func TestRejectedCallsCostNothing(t *testing.T) {
	t.Parallel()
	clock := newFake()
	l := middleware.NewLimiter(3, clock.now)
	allow(t, l, viewer, 3)
	for range 100 {
		refuse(t, l, viewer)
	}
	clock.advance(20 * time.Second)
	allow(t, l, viewer, 1)
	refuse(t, l, viewer)
}

func TestLimiterBucketPerClientAndUser(t *testing.T) {
	t.Parallel()
	l := middleware.NewLimiter(2, newFake().now)
	callers := map[string]*authn.Caller{
		"a user":                     viewer,
		"another user":               {Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Raider},
		"the user by another client": {Kind: authn.User, ClientID: servertest.OtherDashboard, UserID: servertest.Viewer},
		"the client itself":          {Kind: authn.App, ClientID: servertest.Dashboard},
		"the other client itself":    {Kind: authn.App, ClientID: servertest.OtherDashboard},
	}
	for _, c := range callers {
		allow(t, l, c, 2)
	}
	for _, c := range callers {
		refuse(t, l, c)
	}
	// Another token of the same user and client uses the same bucket.
	again := *viewer
	again.Token[0] = 1
	refuse(t, l, &again)
}

func TestLimiterExemptsServiceTokens(t *testing.T) {
	t.Parallel()
	l := middleware.NewLimiter(1, newFake().now)
	allow(t, l, &authn.Caller{Kind: authn.Service, ClientID: servertest.ChatServer}, 100)
	allow(t, l, &authn.Caller{Kind: authn.Service, ClientID: servertest.ChatServer, UserID: servertest.Viewer}, 100)
}

func TestZeroLimitDisablesLimiter(t *testing.T) {
	t.Parallel()
	l := middleware.NewLimiter(0, newFake().now)
	ctx, sent := incoming(context.Background(), servertest.Credentials{})
	for range 10_000 {
		if err := l.Allow(ctx, viewer); err != nil {
			t.Fatal(err)
		}
	}
	if len(sent.header) > 0 {
		t.Errorf("got the header %v, want none", sent.header)
	}
}

func TestLimiterReportsBucketState(t *testing.T) {
	t.Parallel()
	clock := newFake()
	l := middleware.NewLimiter(3, clock.now)
	for i, step := range []struct {
		after                   time.Duration
		limit, remaining, reset string
	}{
		{0, "3", "2", "20"},
		{0, "3", "1", "40"},
		{0, "3", "0", "60"},
		{0, "3", "0", "60"}, // refused
		{10 * time.Second, "3", "0", "50"},
		{10 * time.Second, "3", "0", "60"}, // allowed again
		{time.Minute, "3", "2", "20"},
	} {
		clock.advance(step.after)
		ctx, sent := incoming(context.Background(), servertest.Credentials{})
		_ = l.Allow(ctx, viewer)
		for key, want := range map[string]string{
			"ratelimit-limit": step.limit, "ratelimit-remaining": step.remaining, "ratelimit-reset": step.reset,
		} {
			if got := sent.header.Get(key); len(got) != 1 || got[0] != want {
				t.Errorf("step %d: got %s %q, want %s", i, key, got, want)
			}
		}
	}
}

func TestRateLimitOnBothTransports(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *server.Config) { c.RateLimit = 3 })
	begin := instant.Of(time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC))
	s.Store.Clock.Freeze(begin)
	owner, other := s.As(t, servertest.Owner), s.As(t, servertest.Other)
	none := s.Token(t, authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Owner})

	headers := func(r servertest.Response, status, remaining, reset string) {
		t.Helper()
		if strconv.Itoa(r.Status) != status || r.Header.Get("RateLimit-Limit") != "3" ||
			r.Header.Get("RateLimit-Remaining") != remaining || r.Header.Get("RateLimit-Reset") != reset {
			t.Errorf("got %d, limit %q, remaining %q, reset %q; want %s, 3, %s, %s; body %s", r.Status, r.Header.Get("RateLimit-Limit"),
				r.Header.Get("RateLimit-Remaining"), r.Header.Get("RateLimit-Reset"), status, remaining, reset, r.Body)
		}
	}
	// A request that is rejected before it becomes a call takes nothing from the bucket.
	for _, path := range []string{"/nowhere", moderatorsPath + "?channelId=%zz"} {
		if r := s.REST(t, owner, "GET", path, ""); r.Header.Get("RateLimit-Limit") != "" {
			t.Errorf("%s: got RateLimit-Limit %q, want none", path, r.Header.Get("RateLimit-Limit"))
		}
	}
	headers(s.REST(t, owner, "GET", listOf(servertest.Owner), ""), "200", "2", "20")
	headers(s.REST(t, none, "POST", moderatorsPath, roleOf(servertest.Viewer)), "403", "1", "40")
	headers(s.REST(t, owner, "GET", listOf(servertest.Nobody), ""), "400", "0", "60")
	over := s.REST(t, owner, "GET", listOf(servertest.Owner), "")
	headers(over, "429", "0", "60")
	if got := over.Header.Get("Retry-After"); got != "20" {
		t.Errorf("Retry-After: got %q, want 20", got)
	}
	// The token is checked first: a caller without one learns nothing about limits.
	if r := s.REST(t, servertest.Credentials{}, "GET", listOf(servertest.Owner), ""); r.Status != http.StatusUnauthorized || r.Header.Get("RateLimit-Limit") != "" {
		t.Errorf("without a token: got %d and RateLimit-Limit %q", r.Status, r.Header.Get("RateLimit-Limit"))
	}
	headers(s.REST(t, other, "GET", listOf(servertest.Owner), ""), "200", "2", "20")
	headers(s.REST(t, s.AsApp(t), "GET", listOf(servertest.Owner), ""), "200", "2", "20")

	// gRPC uses the same bucket.
	_, err := s.Moderation.ListModerators(owner.Context(), &moderatov1.ListModeratorsRequest{ChannelId: servertest.Owner.String()})
	f := apierrtest.Of(err)
	if f.Reason != moderatov1.Reason_REASON_RATE_LIMITED || f.RetryAfter.Round(time.Millisecond) != 20*time.Second {
		t.Errorf("gRPC: got %v after %s, want RATE_LIMITED after 20s", err, f.RetryAfter)
	}
	s.Store.Clock.Freeze(begin.Add(20 * time.Second))
	headers(s.REST(t, owner, "GET", listOf(servertest.Owner), ""), "200", "0", "60")
}
