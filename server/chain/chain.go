// Package chain is what every call goes through, whichever face it comes from:
// recovery, request id, metrics and log, error mapping, authentication, rate
// limit, policy. There is no second place for any of these.
package chain

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

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/auth"
	"github.com/moderato-live/moderato/server/fair"
	"github.com/moderato-live/moderato/server/fault"
	"github.com/moderato-live/moderato/server/logging"
	"github.com/moderato-live/moderato/server/policy"
	"github.com/moderato-live/moderato/server/requestid"
)

// callTimeout bounds a unary call whose client set no earlier deadline.
const callTimeout = 15 * time.Second

// Chain is the chain, with what its links need.
type Chain struct {
	Authenticator *auth.Authenticator
	Limiter       *Limiter
	Metrics       *Metrics
	Log           *slog.Logger
	// Draining tells whether the server refuses new calls.
	Draining func() bool
	// Reads is what calls that only read share.
	Reads *fair.Gate
	// MaxWait is the longest that a call may wait for the store to have time for it.
	MaxWait time.Duration

	overloadLogged atomic.Int64 // when, in nanoseconds
}

// Unary is the chain as a gRPC interceptor.
func (c *Chain) Unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	call := c.begin(ctx, info.FullMethod)
	response, err := call.run(func() (any, error) { return call.inTurn(handler, req) })
	return response, call.end(err)
}

// Stream is the chain for streaming calls, which have no timeout.
func (c *Chain) Stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	call := c.begin(stream.Context(), info.FullMethod)
	_, err := call.run(func() (any, error) { return nil, handler(srv, &streamOf{stream, call}) })
	return call.end(err)
}

// streamOf is a stream with its call as the context.
type streamOf struct {
	grpc.ServerStream
	call *call
}

func (s *streamOf) Context() context.Context { return s.call }

// SendMsg sends a message, if the method has checked what the caller may hear.
func (s *streamOf) SendMsg(m any) error {
	if err := s.call.checkDecision(); err != nil {
		return err
	}
	return s.ServerStream.SendMsg(m)
}

// run admits the call and carries it out. A panic is our fault, and ends only
// this call.
func (c *call) run(handle func() (any, error)) (response any, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.Log.Error("panic", "request_id", c.requestID, "method", c.method, "panic", fmt.Sprint(p), logging.StackKey, string(debug.Stack()))
			response, err = nil, fault.New(moderatov1.Reason_REASON_INTERNAL)
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

// errNotChecked is our fault: a method must check the relation that its rule requires,
// or it could show anybody's data.
var errNotChecked = errors.New("the method did not check the relation that its policy requires")

// checkDecision fails a call whose method forgot to check what the caller is to what
// the request names.
func (c *call) checkDecision() error {
	if c.policy.IsMissing() {
		return errNotChecked
	}
	return nil
}

// inTurn carries a call out. Calls that only read share the store fairly; changes do
// so where they begin a transaction.
func (c *call) inTurn(handler grpc.UnaryHandler, req any) (any, error) {
	if c.caller != nil && isRead(c.method) {
		slot, err := c.Reads.Acquire(c)
		if err != nil {
			return nil, err
		}
		defer slot.Release()
	}
	return handler(c, req)
}

// admit finds out who calls and whether they may call this method at all. What
// they must be to the things they name is decided by the method, which knows
// them.
func (c *call) admit() error {
	rule := policy.Table[c.method]
	if rule.Public {
		return nil
	}
	if c.Draining() {
		return &fault.Error{Reason: moderatov1.Reason_REASON_UNAVAILABLE, RetryAfter: time.Second}
	}
	var err error
	if c.caller, err = c.Authenticator.Authenticate(c, c.sent); err != nil {
		return err
	}
	c.request = fair.Request{Owner: fair.Owner{Client: c.caller.ClientID, User: c.caller.UserID}, MaxWait: c.MaxWait}
	if c.continues {
		c.request.MaxWait = 0 // the client has rows already: it waits rather than lose them
	} else {
		if err := c.Limiter.Allow(c, c.caller); err != nil {
			return err
		}
	}
	c.policy.Rule = rule
	return rule.Check(c.caller)
}

// end turns an error into its status, and accounts for the call.
func (c *call) end(err error) error {
	if c.continues && err == nil {
		return nil
	}
	o := outcome{code: "OK"}
	shown := err
	if _, isStatus := status.FromError(err); err != nil && isStatus && policy.Table[c.method].Public {
		// Health and reflection answer statuses of their own.
		o.code = status.Code(err).String()
	} else if err != nil {
		f := fault.Of(err)
		o = c.outcomeOf(err, f)
		shown = f.Status(c.requestID).Err()
	}
	elapsed := time.Since(c.start)
	c.Metrics.observe(c.face, c.method, o.code, elapsed)
	c.log(err, o, elapsed)
	return shown
}

// What calls are counted as that are no fault of anybody's. No caller sees it.
const (
	canceled = "CANCELED"
	stopping = "STOPPING"
)

// outcome is what a call is counted and logged as.
type outcome struct {
	code           string
	isOurs, isGone bool
	// isOverload: it was rejected because there is too much to do.
	isOverload bool
}

// outcomeOf is what a call that failed is counted as: with the error's code,
// unless its caller is gone, or it is a stream that ends because the server does.
func (c *call) outcomeOf(err error, f *fault.Error) outcome {
	isTheirs := !f.IsOurs() && f.Reason != moderatov1.Reason_REASON_DEADLINE_EXCEEDED
	switch {
	case errors.Is(err, fault.ErrStopping):
		return outcome{code: stopping}
	case !isTheirs && (errors.Is(err, context.Canceled) || errors.Is(c.Err(), context.Canceled)):
		return outcome{code: canceled, isGone: true}
	}
	return outcome{code: fault.Code(f.Reason), isOurs: f.IsOurs(), isOverload: f.Reason == moderatov1.Reason_REASON_OVERLOADED}
}
