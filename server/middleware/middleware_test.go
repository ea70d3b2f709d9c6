package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/requestid"
	"github.com/moderato-live/moderato/server/middleware"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/apierr/apierrtest"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
)

const (
	healthCheck = "/grpc.health.v1.Health/Check"
	healthWatch = "/grpc.health.v1.Health/Watch"
)

// unary passes a call through the chain.
func unary(c *middleware.Chain, ctx context.Context, method string, handler func(context.Context) error) error { //nolint:revive // the chain first, as if a method of it
	_, err := c.Unary(ctx, nil, &grpc.UnaryServerInfo{FullMethod: method}, func(ctx context.Context, _ any) (any, error) {
		return nil, handler(ctx)
	})
	return err
}

func succeed(context.Context) error { return nil }

// wantReason checks the reason of a call's error, and returns the request id.
func wantReason(t *testing.T, err error, want moderatov1.Reason) (requestID string) {
	t.Helper()
	f := apierrtest.Of(err)
	if err == nil || f.Reason != want {
		t.Fatalf("got %v, want %s", err, apierr.Code(want))
	}
	if f.RequestID == "" {
		t.Errorf("%s has no request id", apierr.Code(want))
	}
	return f.RequestID
}

// explode panics. The log must contain its name.
func explode(context.Context) error { panic("token mdu_secret in SELECT") }

func TestPanicIsServerErrorAndLogged(t *testing.T) {
	t.Parallel()
	s := start(t)
	c, log := newChain(s)
	viewer := s.As(t, servertest.Viewer)
	ends := map[string]func(context.Context) error{
		"unary": func(ctx context.Context) error { return unary(c, ctx, listModerators, explode) },
		"stream": func(ctx context.Context) error {
			info := &grpc.StreamServerInfo{FullMethod: healthWatch}
			return c.Stream(nil, stream{ctx: ctx}, info, func(any, grpc.ServerStream) error { return explode(ctx) })
		},
	}
	for kind, end := range ends {
		ctx, _ := incoming(t.Context(), viewer)
		err := end(ctx)
		id := wantReason(t, err, moderatov1.Reason_REASON_INTERNAL)
		if text := fmt.Sprint(status.Convert(err).Proto()); strings.Contains(text, "secret") || strings.Contains(text, "explode") {
			t.Errorf("%s: the answer shows the panic: %s", kind, text)
		}
		found := log.find(t, "request_id", id, "msg", "panic", "level", "ERROR")
		if len(found) != 1 {
			t.Fatalf("%s: got %d lines of the panic, want one: %s", kind, len(found), log)
		}
		if stack, _ := found[0]["stack"].(string); !strings.Contains(stack, "middleware_test.explode") {
			t.Errorf("%s: got the stack %q, want the function that panicked in it", kind, stack)
		}
		if len(log.find(t, "request_id", id, "msg", "call", "level", "ERROR", "code", "INTERNAL")) != 1 {
			t.Errorf("%s: the call itself is not logged as our fault: %s", kind, log)
		}
	}
	// The panic must end only that call.
	ctx, _ := incoming(t.Context(), viewer)
	if err := unary(c, ctx, listModerators, succeed); err != nil {
		t.Errorf("the next call: got %v", err)
	}
}

func TestUnexpectedErrorIsHidden(t *testing.T) {
	t.Parallel()
	s := start(t)
	c, log := newChain(s)
	ctx, _ := incoming(t.Context(), s.As(t, servertest.Viewer))
	err := unary(c, ctx, listModerators, func(context.Context) error { return errors.New("near SELECT: syntax error") })
	id := wantReason(t, err, moderatov1.Reason_REASON_INTERNAL)
	if text := fmt.Sprint(status.Convert(err).Proto()); strings.Contains(text, "SELECT") {
		t.Errorf("the answer shows the cause: %s", text)
	}
	if found := log.find(t, "request_id", id, "level", "ERROR", "error", "near SELECT: syntax error"); len(found) != 1 {
		t.Errorf("the cause is not in the log: %s", log)
	}
}

func TestCallsAreRejectedWhileDraining(t *testing.T) {
	t.Parallel()
	s := start(t)
	c, _ := newChain(s)
	c.Draining = func() bool { return true }
	for name, credentials := range map[string]servertest.Credentials{"with a token": s.As(t, servertest.Viewer), "without": {}} {
		ctx, _ := incoming(t.Context(), credentials)
		err := unary(c, ctx, listModerators, func(context.Context) error {
			t.Errorf("%s: the method runs", name)
			return nil
		})
		wantReason(t, err, moderatov1.Reason_REASON_UNAVAILABLE)
		if f := apierrtest.Of(err); f.RetryAfter <= 0 {
			t.Errorf("%s: got RetryAfter %s, want some time", name, f.RetryAfter)
		}
	}
	ctx, _ := incoming(t.Context(), servertest.Credentials{})
	if err := unary(c, ctx, healthCheck, succeed); err != nil {
		t.Errorf("health: got %v, want it answered to the end", err)
	}
}

func TestUnaryCallHasDeadline(t *testing.T) {
	t.Parallel()
	s := start(t)
	c, _ := newChain(s)
	viewer := s.As(t, servertest.Viewer)
	for _, own := range []time.Duration{0, 12 * time.Second, time.Hour} {
		want := 15 * time.Second
		ctx, _ := incoming(t.Context(), viewer)
		if own > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, own)
			defer cancel()
			want = min(want, own)
		}
		err := unary(c, ctx, listModerators, func(ctx context.Context) error {
			deadline, ok := ctx.Deadline()
			if left := time.Until(deadline); !ok || left > want || left < want-10*time.Second {
				t.Errorf("with a deadline of %s: got %s left, want %s", own, left, want)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	t.Run("expired deadline", func(t *testing.T) {
		ctx, _ := incoming(t.Context(), viewer)
		err := unary(c, ctx, listModerators, func(context.Context) error { return fmt.Errorf("query: %w", context.DeadlineExceeded) })
		wantReason(t, err, moderatov1.Reason_REASON_DEADLINE_EXCEEDED)
	})
	t.Run("stream has no deadline", func(t *testing.T) {
		ctx, _ := incoming(context.Background(), servertest.Credentials{})
		err := c.Stream(nil, stream{ctx: ctx}, &grpc.StreamServerInfo{FullMethod: healthWatch}, func(_ any, s grpc.ServerStream) error {
			if deadline, ok := s.Context().Deadline(); ok {
				t.Errorf("got the deadline %s", deadline)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// A method without a policy is denied.
func TestMethodWithoutPolicyIsDenied(t *testing.T) {
	t.Parallel()
	s := start(t)
	c, _ := newChain(s)
	service := s.AsService(t)
	service.ActingUser = servertest.Owner
	for name, tc := range map[string]struct {
		credentials servertest.Credentials
		want        moderatov1.Reason
	}{
		"nobody":  {servertest.Credentials{}, moderatov1.Reason_REASON_TOKEN_MISSING},
		"user":    {s.As(t, servertest.Owner), moderatov1.Reason_REASON_TOKEN_KIND_NOT_ACCEPTED},
		"app":     {s.AsApp(t), moderatov1.Reason_REASON_TOKEN_KIND_NOT_ACCEPTED},
		"service": {service, moderatov1.Reason_REASON_TOKEN_KIND_NOT_ACCEPTED},
	} {
		ctx, _ := incoming(t.Context(), tc.credentials)
		wantReason(t, unary(c, ctx, "/moderato.v1.ModerationService/Forgotten", succeed), tc.want)
		err := c.Stream(nil, stream{ctx: ctx}, &grpc.StreamServerInfo{FullMethod: "/moderato.v1.EventService/Forgotten"},
			func(any, grpc.ServerStream) error {
				t.Errorf("%s: the stream runs", name)
				return nil
			})
		wantReason(t, err, tc.want)
	}
}

func TestMethodReceivesCaller(t *testing.T) {
	t.Parallel()
	s := start(t)
	c, _ := newChain(s)
	ctx, sent := incoming(t.Context(), s.As(t, servertest.Viewer))
	md, _ := metadata.FromIncomingContext(ctx)
	ctx = metadata.NewIncomingContext(ctx, metadata.Join(md, metadata.Pairs("x-request-id", "mine")))
	err := unary(c, ctx, listModerators, func(ctx context.Context) error {
		caller := authn.FromContext(ctx)
		if caller == nil || caller.UserID != servertest.Viewer || caller.ClientID != servertest.Dashboard || caller.Kind != authn.User {
			t.Errorf("caller: got %+v", caller)
		}
		if got := requestid.FromContext(ctx); got != "mine" {
			t.Errorf("request id: got %q, want mine", got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if got := sent.header.Get("x-request-id"); len(got) != 1 || got[0] != "mine" {
		t.Errorf("header of the answer: got %q, want mine", got)
	}
}

// A method that does not check the caller's relation to the channel must return nothing.
func TestMethodWithoutRelationCheckFails(t *testing.T) {
	t.Parallel()
	s := start(t)
	c, _ := newChain(s)
	ctx, _ := incoming(t.Context(), s.As(t, servertest.Viewer))
	for _, method := range []string{
		moderatov1.ModerationService_BanUser_FullMethodName, moderatov1.ModerationService_ListLog_FullMethodName,
		moderatov1.ModerationService_ListModeratedChannels_FullMethodName, moderatov1.ChannelsService_GetStats_FullMethodName,
	} {
		wantReason(t, unary(c, ctx, method, succeed), moderatov1.Reason_REASON_INTERNAL)
	}
	// A check of another relation does not satisfy the policy.
	wantReason(t, unary(c, ctx, moderatov1.ModerationService_ListModeratedChannels_FullMethodName, func(ctx context.Context) error {
		return authz.AuthorizeChannel(ctx, servertest.Viewer)
	}), moderatov1.Reason_REASON_INTERNAL)
	app, _ := incoming(t.Context(), s.AsApp(t))
	for name, check := range map[string]struct {
		ctx context.Context
		run func(context.Context, *ent.Tx) error
	}{
		"the check of a change": {ctx, func(ctx context.Context, tx *ent.Tx) error {
			_, refusals, err := authz.Authorize(ctx, s.Store, tx, servertest.Viewer, authz.ClaimOf(ctx))
			return errors.Join(err, errors.Join(refusals...))
		}},
		"the token of an app": {app, func(ctx context.Context, tx *ent.Tx) error { return authz.Reauthenticate(ctx, s.Store, tx) }},
	} {
		t.Log(name)
		err := unary(c, check.ctx, moderatov1.ModerationService_ListModeratedChannels_FullMethodName, func(ctx context.Context) error {
			return s.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error { return check.run(ctx, tx) })
		})
		wantReason(t, err, moderatov1.Reason_REASON_INTERNAL)
	}
	err := c.Stream(nil, stream{ctx: ctx}, &grpc.StreamServerInfo{FullMethod: moderatov1.EventsService_WatchEvents_FullMethodName},
		func(_ any, s grpc.ServerStream) error { return s.SendMsg(&moderatov1.WatchEventsResponse{}) })
	wantReason(t, err, moderatov1.Reason_REASON_INTERNAL)
}
