// Package middleware runs the steps that are common to all calls of every transport:
// recovery, request id, metrics, log and traces, error mapping, authentication, rate limit,
// policy, idempotency keys. None of these is implemented anywhere else.
package middleware

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/fair"
	"github.com/moderato-live/moderato/internal/logging"
	"github.com/moderato-live/moderato/internal/requestid"
	"github.com/moderato-live/moderato/internal/tracing"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/store/pictures"
)

// callTimeout bounds a unary call for which the client set no earlier deadline.
const callTimeout = 15 * time.Second

// Chain is the chain of steps, with their dependencies.
type Chain struct {
	Authenticator *authn.Authenticator
	Tickets       Tickets
	Limiter       *Limiter
	Metrics       *Metrics
	Log           *slog.Logger
	// Draining reports whether the server refuses new calls.
	Draining func() bool
	// Reads is the gate of the calls that only read.
	Reads *fair.Gate
	// Idempotency handles the changes that have an idempotency key.
	Idempotency *idempotency.Keys
	// Pictures fills the empty pictures of responses.
	Pictures *pictures.Filler
	// MaxWait is the longest time that a call may wait for a slot of the store.
	MaxWait time.Duration

	overloadLogged atomic.Int64 // Unix time in nanoseconds
}

// Tickets finds the callers of event streams that are opened with a ticket. redeem uses
// the ticket up.
type Tickets interface {
	Find(ctx context.Context, address, ticket string) (caller *authn.Caller, redeem func(context.Context) error, err error)
}

// Unary runs a unary call through the chain. It is a grpc.UnaryServerInterceptor.
func (c *Chain) Unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	call := c.begin(ctx, info.FullMethod)
	response, err := call.run(func() (any, error) {
		response, err := call.inTurn(handler, req)
		if m, ok := response.(proto.Message); ok && err == nil {
			c.Pictures.Fill(m) // here, so that the responses that Idempotency keeps stay as they are
		}
		return response, err
	})
	return response, call.end(err)
}

// Stream runs a streaming call through the chain. It is a grpc.StreamServerInterceptor.
// Streaming calls have no timeout.
func (c *Chain) Stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	call := c.begin(stream.Context(), info.FullMethod)
	_, err := call.run(func() (any, error) { return nil, handler(srv, &streamOf{stream, call}) })
	return call.end(err)
}

// streamOf is a stream whose context is its call.
type streamOf struct {
	grpc.ServerStream
	call *call
}

func (s *streamOf) Context() context.Context { return s.call }

// SendMsg sends a message. It fails if the method did not check the relation that its
// rule requires.
func (s *streamOf) SendMsg(m any) error {
	if err := s.call.checkDecision(); err != nil {
		return err
	}
	return s.ServerStream.SendMsg(m)
}

// run admits the call and runs its method. A panic fails only this call, with INTERNAL.
func (c *call) run(handle func() (any, error)) (response any, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.Log.Error("panic", "request_id", c.requestID, "method", c.method, "panic", fmt.Sprint(p), logging.StackKey, string(debug.Stack()))
			response, err = nil, apierr.New(moderatov1.Reason_REASON_INTERNAL)
		}
	}()
	_ = grpc.SetHeader(c, metadata.MD{requestid.MetadataKey: {c.requestID}})
	if err := c.admit(); err != nil {
		return nil, err
	}
	if response, err = handle(); err != nil {
		return nil, err
	}
	return response, c.checkDecision()
}

// errNotChecked is the error of a method that did not check the relation that its rule
// requires, and so could reveal anybody's data. It is a mistake of the server, and
// callers see INTERNAL.
var errNotChecked = errors.New("the method did not check the relation that its policy requires")

// checkDecision returns an error if the method did not check the caller's relation to
// what the request names. The caller of a replay passed the check when the response was
// made.
func (c *call) checkDecision() error {
	if c.policy.IsMissing() && !c.isReplay {
		return errNotChecked
	}
	return nil
}

// inTurn calls the handler. A call that only reads takes a slot of the fair gate for
// reads first; a change does the same when it begins a transaction.
func (c *call) inTurn(handler grpc.UnaryHandler, req any) (any, error) {
	switch {
	case c.caller == nil:
	case isRead(c.method):
		slot, err := c.Reads.Acquire(c)
		if err != nil {
			return nil, err
		}
		defer slot.Release()
	default:
		if keys := c.sent(idempotency.MetadataKey); len(keys) > 0 {
			return c.once(keys, handler, req)
		}
	}
	return handler(c, req)
}

// once calls the handler of a change that has an idempotency key.
func (c *call) once(keys []string, handler grpc.UnaryHandler, req any) (response any, err error) {
	response, c.isReplay, err = c.Idempotency.Once(c, c.method, keys, req.(proto.Message), func(ctx context.Context) (any, error) {
		return handler(ctx, req)
	})
	if c.isReplay {
		_ = grpc.SetHeader(c, metadata.MD{idempotency.ReplayedKey: {"true"}})
	}
	return response, err
}

// admit authenticates the caller and checks whether the caller may call the method at
// all. The method itself checks the caller's relation to what the request names.
func (c *call) admit() error {
	rule := authz.Table[c.method]
	if rule.Public {
		return nil
	}
	if c.Draining() {
		return &apierr.Error{Reason: moderatov1.Reason_REASON_UNAVAILABLE, RetryAfter: time.Second}
	}
	redeem, err := c.authenticate()
	if err != nil {
		return err
	}
	c.request = fair.Request{Owner: fair.Owner{Client: c.caller.ClientID, User: c.caller.UserID}, MaxWait: c.MaxWait}
	if err := c.Limiter.Allow(c, c.caller); err != nil {
		return err
	}
	c.policy.Rule = rule
	if err := rule.Check(c.caller); err != nil {
		return err
	}
	return redeem(c)
}

// authenticate identifies the caller by the token or, if the REST facade passes one on, by
// a ticket. The call must not run unless redeem, which uses the ticket up, succeeds.
func (c *call) authenticate() (redeem func(context.Context) error, err error) {
	if c.stream != nil {
		if ticket := c.stream.Sent(authn.TicketKey); len(ticket) > 0 {
			c.caller, redeem, err = c.Tickets.Find(c, c.address(), ticket[0])
			return redeem, err
		}
	}
	c.caller, err = c.Authenticator.Authenticate(c, c.address(), c.sent)
	return func(context.Context) error { return nil }, err
}

// end counts and logs the call, and returns the error that the caller sees: an
// *apierr.Error, or a status of health or reflection.
func (c *call) end(err error) error {
	o := outcome{code: "OK"}
	shown := err
	var fault *apierr.Error
	if _, isStatus := status.FromError(err); err != nil && isStatus && authz.Table[c.method].Public && !errors.As(err, &fault) {
		o.code = status.Code(err).String()
	} else if err != nil {
		f := *apierr.Of(err)
		o = c.outcomeOf(err, &f)
		f.RequestID = c.requestID
		shown = &f
	}
	elapsed := time.Since(c.start)
	tracing.Describe(c.Context, "moderato.code", o.code)
	c.Metrics.observe(c.Context, c.transport, c.method, o.code, elapsed)
	c.log(err, o, elapsed)
	return shown
}

// Codes, for metrics and logs, of calls that ended without a mistake of the caller or
// of the server. Callers never see them.
const (
	canceled = "CANCELED"
	stopping = "STOPPING"
)

// outcome is how a call is counted and logged.
type outcome struct {
	code           string
	isOurs, isGone bool
	// isOverload is true if the call was rejected because of overload.
	isOverload bool
}

// outcomeOf returns the outcome of a call that failed. Its code is the code of the
// error, unless the caller cancelled the call, or the call is a stream that ends
// because the server stops.
func (c *call) outcomeOf(err error, f *apierr.Error) outcome {
	isTheirs := !f.IsOurs() && f.Reason != moderatov1.Reason_REASON_DEADLINE_EXCEEDED
	switch {
	case errors.Is(err, apierr.ErrStopping):
		return outcome{code: stopping}
	case !isTheirs && (errors.Is(err, context.Canceled) || errors.Is(c.Err(), context.Canceled)):
		return outcome{code: canceled, isGone: true}
	}
	return outcome{code: apierr.Code(f.Reason), isOurs: f.IsOurs(), isOverload: f.Reason == moderatov1.Reason_REASON_OVERLOADED}
}
