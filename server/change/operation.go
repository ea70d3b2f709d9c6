package change

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/changequeue"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/store"
)

// maxTogether is how many requests of an operation are made together at most.
const maxTogether = 64

// An Operation makes requests for one kind of change of a channel. If the channel is idle, a
// request is made at once. Otherwise those that wait for the channel at the same time are made
// together, in one transaction and in the order of the queue. No request waits for another to
// arrive.
//
// A request is of type T, which also holds its result. Each operation has a type of its own.
type Operation[T any] struct {
	// Make makes requests in order. Their callers may make them. It refuses a request by
	// setting its Err, and must not have emitted or written anything for it. Any other problem
	// is an error, after which each request is made again alone.
	Make func(ctx context.Context, c *Change, requests []*Request[T]) error
	// IsMade reports whether an earlier attempt made a request whose COMMIT had an unknown
	// outcome. It is nil if the events of the operation tell that: see checkCommitted.
	IsMade func(ctx context.Context, tx *ent.Tx, of T) (bool, error)
}

// Request is a request of an Operation, with its caller.
type Request[T any] struct {
	// Of says what is requested. Make assigns the result to it.
	Of T
	// Err is the error with which Make refuses the request; nil if it was made.
	Err error

	author
	claim  authz.Claim
	hook   store.Hook
	before int64 // the channel's last event before any attempt of this request

	done    chan struct{} // closed after the first attempt
	failed  error         // of the first attempt
	unknown bool          // the first attempt may have been committed
}

// BecomeAuthor makes the caller of the request the author of the events that follow.
func (r *Request[T]) BecomeAuthor(c *Change) { c.author = r.author }

// Do makes a request on behalf of the caller of the present call. The caller must have the
// relation to the channel that the policy of the method requires. When Do returns an error
// other than the request's own, another goroutine may still use the request.
func (o *Operation[T]) Do(ctx context.Context, s *store.Store, channelID uid.ID, of T) error {
	return o.do(ctx, s, channelID, of, func(ctx context.Context, r *Request[T]) (*changequeue.Turn, error) {
		return s.ChangeQueues.AcquireOrJoin(ctx, channelID, r)
	})
}

// DoLong is Do for a request that changes many rows. It is made alone, and lets the changes of
// moderators pass: see changequeue.
func (o *Operation[T]) DoLong(ctx context.Context, s *store.Store, channelID uid.ID, of T) error {
	return o.do(ctx, s, channelID, of, func(ctx context.Context, _ *Request[T]) (*changequeue.Turn, error) {
		return s.ChangeQueues.AcquireLong(ctx, channelID)
	})
}

func (o *Operation[T]) do(ctx context.Context, s *store.Store, channelID uid.ID, of T, wait func(context.Context, *Request[T]) (*changequeue.Turn, error)) error {
	ctx, err := prioritized(ctx, s, channelID)
	if err != nil {
		return err
	}
	r := &Request[T]{
		Of: of, author: newAuthor(ctx, s, authn.FromContext(ctx)), claim: authz.ClaimOf(ctx), hook: store.HookOf(ctx),
		before: math.MaxInt64, done: make(chan struct{}),
	}
	turn, err := wait(ctx, r)
	if err != nil {
		return fmt.Errorf("change channel %s: wait for a turn: %w", channelID, err)
	}
	if turn != nil {
		o.lead(ctx, s, channelID, turn, r)
	}
	err = r.outcome(ctx, s)
	if err == nil && r.failed != nil {
		err = o.repeat(ctx, s, channelID, r)
	}
	if err != nil {
		return fmt.Errorf("change channel %s: %w", channelID, err)
	}
	return r.Err
}

// lead makes the first request, which has its turn, together with those that wait.
func (o *Operation[T]) lead(ctx context.Context, s *store.Store, channelID uid.ID, turn *changequeue.Turn, first *Request[T]) {
	defer turn.End()
	together := []*Request[T]{first}
	failed, unknown := errors.New("the transaction panicked"), false
	defer func() {
		if failed != nil && len(together) > 1 {
			failed = store.Shared(failed)
		}
		for _, r := range together {
			r.failed, r.unknown = failed, unknown
			close(r.done)
		}
	}()
	var c *Change
	unknown, failed = s.WriteOnce(ctx, func(ctx context.Context, tx *ent.Tx, attempt store.Attempt) (err error) {
		if c, err = begin(ctx, s, tx, channelID); err != nil {
			return err
		}
		isSame := func(work any) bool { _, ok := work.(*Request[T]); return ok }
		for _, work := range turn.Take(maxTogether-1, isSame) {
			together = append(together, work.(*Request[T]))
		}
		if err := o.make(ctx, c, attempt, together); err != nil {
			return err
		}
		turn.Release()
		return nil
	})
	c.end(failed)
}

// outcome waits until the first attempt of a request is over. If the caller leaves before, the
// outcome is unknown. On an embedded database, outcome waits even then: the wait is short, and
// the chat sends a post to its listeners only if it was stored.
func (r *Request[T]) outcome(ctx context.Context, s *store.Store) error {
	left := ctx.Done()
	if s.HasOneWriter() || r.isOver() {
		left = nil
	}
	select {
	case <-r.done:
		return nil
	case <-left:
		return fmt.Errorf("%w: %w", store.ErrUnavailable, ctx.Err())
	}
}

func (r *Request[T]) isOver() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// repeat makes a request alone after its first attempt has failed.
func (o *Operation[T]) repeat(ctx context.Context, s *store.Store, channelID uid.ID, r *Request[T]) error {
	var c *Change
	err := s.WriteAgain(ctx, r.failed, r.unknown, func(ctx context.Context, tx *ent.Tx, attempt store.Attempt) (err error) {
		if c, err = begin(ctx, s, tx, channelID); err != nil {
			return err
		}
		if attempt.Unknown {
			if err := o.checkMade(ctx, c, r); err != nil {
				return err
			}
		}
		return o.make(ctx, c, attempt, []*Request[T]{r})
	})
	c.end(err)
	return err
}

// checkMade returns store.ErrCommitted if an earlier attempt made a request.
func (o *Operation[T]) checkMade(ctx context.Context, c *Change, r *Request[T]) error {
	if o.IsMade == nil {
		return c.checkCommitted(ctx, min(r.before, c.sequence), r.operationID)
	}
	isMade, err := o.IsMade(ctx, c.Tx, r.Of)
	if err == nil && isMade {
		return store.ErrCommitted
	}
	return err
}

// make makes requests in the transaction of a change. A request with a Hook, which stores the
// response of an idempotency key, is not refused here, but fails the transaction: what its Hook
// has written must not remain.
func (o *Operation[T]) make(ctx context.Context, c *Change, attempt store.Attempt, requests []*Request[T]) error {
	admitted, err := o.admit(ctx, c, requests)
	if err != nil {
		return err
	}
	for _, r := range admitted {
		if r.hook != nil {
			if err := r.hook.Begin(ctx, c.Store, c.Tx, attempt); err != nil {
				return err
			}
		}
	}
	if len(admitted) > 0 {
		if err := o.Make(ctx, c, admitted); err != nil {
			return err
		}
	}
	for _, r := range admitted {
		if r.hook == nil {
			continue
		}
		if r.Err != nil {
			return r.Err
		}
		if err := r.hook.End(ctx, c.Tx); err != nil {
			return err
		}
	}
	return c.finish(ctx)
}

// admit authorizes the callers of requests, and returns the requests of those who may make
// them.
func (o *Operation[T]) admit(ctx context.Context, c *Change, requests []*Request[T]) (admitted []*Request[T], err error) {
	claims := make([]authz.Claim, len(requests))
	for i, r := range requests {
		claims[i] = r.claim
	}
	refusals, err := c.authorize(ctx, claims...)
	if err != nil {
		return nil, err
	}
	for i, r := range requests {
		r.before = min(r.before, c.sequence)
		if r.Err = refusals[i]; r.Err == nil {
			admitted = append(admitted, r)
		}
	}
	return admitted, nil
}
