// Package change makes the changes of channels. A change locks its channel, authorizes the
// caller, and writes its events in the same transaction, in the channel's own sequence.
// The changes of a channel first queue in the server.
package change

import (
	"context"
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/authn"
	"github.com/moderato-live/moderato/server/authz"
	"github.com/moderato-live/moderato/server/changequeue"
	"github.com/moderato-live/moderato/server/eventtype"
	"github.com/moderato-live/moderato/server/fair"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/jsonapi"
	"github.com/moderato-live/moderato/server/requestid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
)

// Change is a change of one channel, in its transaction, with the channel locked. The
// changes of a channel are serialized: the later one sees all of the earlier one.
type Change struct {
	// Tx is the transaction.
	Tx *ent.Tx
	// Store is the store of the transaction.
	Store *store.Store
	// ChannelID is the id of the channel.
	ChannelID uid.ID
	// Now is the time of the change, by the database's clock.
	Now instant.Instant
	// ActorID is the user who makes the change; zero when there is none.
	ActorID uid.ID
	// ClientID is the client through which the user makes the change; empty when there
	// is none.
	ClientID string
	// Pending holds what the transaction writes at its end.
	Pending

	isAlone     bool // the change shares its transaction with none
	isToOne     bool // ApplyToOne makes the change
	turn        *changequeue.Turn
	room        int // the number of changes that can still join the transaction
	operationID uid.ID
	requestID   string
	traceparent string
	undeclared  error // the events that the contract does not declare
}

// Apply makes a change on behalf of the caller of the present request. The caller must
// have the relation to the channel that the policy of the method requires. If body
// returns an error, the change is rolled back. body may run more than once, and only its
// last run takes effect.
func Apply(ctx context.Context, s *store.Store, channelID uid.ID, body func(context.Context, *Change) error) error {
	return authorized(ctx, s, Change{ChannelID: channelID}, subject{}, withoutUser(body))
}

// ApplyAlone is Apply for a change that shares its transaction with no other: a change of
// many rows, for whose commit the others would wait, or a change of what Locked holds.
func ApplyAlone(ctx context.Context, s *store.Store, channelID uid.ID, body func(context.Context, *Change) error) error {
	return authorized(ctx, s, Change{ChannelID: channelID, isAlone: true}, subject{}, withoutUser(body))
}

// ApplyTo is Apply for a change about a user. It passes the user to body, and returns
// USER_NOT_FOUND if the user is unknown.
func ApplyTo(ctx context.Context, s *store.Store, channelID uid.ID, about users.Key, body func(context.Context, *Change, *ent.User) error) error {
	return authorized(ctx, s, Change{ChannelID: channelID}, subject{key: about}, withUser(body))
}

// ApplyToOne is ApplyTo for a change that may read and write nothing but its events, the rows
// of the one user, and what more reads in the statement that authorizes the change. So what
// earlier changes of the transaction deferred may wait until the end, unless it concerns the
// user or the caller. An earlier change may read more while this one waits for its turn, together
// with that of others, so the arguments of more may depend on the channel only.
func ApplyToOne(ctx context.Context, s *store.Store, channelID uid.ID, about users.Key, more users.More, body func(context.Context, *Change, *ent.User) error) error {
	return authorized(ctx, s, Change{ChannelID: channelID, isToOne: true}, subject{key: about, more: more}, withUser(body))
}

func withoutUser(body func(context.Context, *Change) error) func(context.Context, *Change, *users.Joined) error {
	return func(ctx context.Context, c *Change, _ *users.Joined) error { return body(ctx, c) }
}

func withUser(body func(context.Context, *Change, *ent.User) error) func(context.Context, *Change, *users.Joined) error {
	return func(ctx context.Context, c *Change, found *users.Joined) error {
		u, err := found.User()
		if err != nil {
			return err
		}
		return body(ctx, c, u)
	}
}

// subject is the user whom a change is about.
type subject struct {
	key  users.Key
	more users.More
}

func authorized(ctx context.Context, s *store.Store, start Change, about subject, body func(context.Context, *Change, *users.Joined) error) error {
	caller := authn.FromContext(ctx)
	start.ActorID, start.ClientID = caller.UserID, caller.ClientID
	ctx, err := prioritized(ctx, s, start.ChannelID)
	if err != nil {
		return err
	}
	facts := authz.NewFacts(ctx, start.ChannelID, about.key, about.more)
	if start.isToOne && !store.HasHook(ctx) { // the facts could be old when a Hook has waited
		ctx = announce(ctx, facts)
	}
	return apply(ctx, s, start, func(ctx context.Context, c *Change) error {
		if !c.isToOne || c.hasDeferred(about.key) || c.hasDeferred(users.Key{ID: c.ActorID}) {
			if err := flush(ctx, c); err != nil {
				return err
			}
			clear(c.prefetched)
		}
		if err := c.read(ctx, facts); err != nil {
			return err
		}
		if c.Now, err = facts.Authorize(ctx); err != nil {
			return err
		}
		if !c.exists {
			return apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)
		}
		return body(ctx, c, &facts.User)
	})
}

// prioritized returns a context that gives the change of the present request priority
// if it is moderation. If even a change with priority would wait too long, it returns an
// error without that look-up.
func prioritized(ctx context.Context, s *store.Store, channelID uid.ID) (context.Context, error) {
	high := fair.WithPriority(ctx, fair.High)
	if err := s.ChangeQueues.Check(high, channelID); err != nil {
		return nil, err
	}
	if authz.HasPriority(ctx, s, channelID) {
		return high, nil
	}
	return ctx, nil
}

// ApplyUnattended makes a change that no caller requested, such as the expiration of a
// mute. It does nothing if the channel no longer exists.
func ApplyUnattended(ctx context.Context, s *store.Store, channelID uid.ID, body func(context.Context, *Change) error) error {
	return apply(ctx, s, Change{ChannelID: channelID, isAlone: true}, func(ctx context.Context, c *Change) error {
		var err error
		if c.Now, err = s.Clock.Now(ctx, c.Tx); err != nil || !c.exists {
			return err
		}
		return body(ctx, c)
	})
}

func apply(ctx context.Context, s *store.Store, start Change, body func(context.Context, *Change) error) error {
	start.Store, start.operationID, start.requestID = s, uid.New(), requestid.FromContext(ctx)
	start.traceparent = s.Tracer().Kept(ctx)
	acquire, write := s.ChangeQueues.AcquireOrJoin, s.WriteShared
	switch {
	case start.isAlone:
		acquire, write = s.ChangeQueues.AcquireLong, s.WriteAlone
	case start.isToOne:
		write = s.WriteAmongChannels
	}
	turn, err := acquire(ctx, start.ChannelID)
	if err != nil {
		return fmt.Errorf("change channel %s: wait for a turn: %w", start.ChannelID, err)
	}
	before := int64(math.MaxInt64) // the channel's last event before any attempt of this change
	err = write(ctx, turn, func(ctx context.Context, tx *ent.Tx, attempt store.Attempt) error {
		c := start
		c.Tx = tx
		c.turn, c.room = turn, attempt.Common.Room()
		if err := c.lock(ctx, attempt); err != nil {
			return err
		}
		c.store, c.channelID = s, c.ChannelID
		before = min(before, c.sequence)
		if attempt.Unknown {
			// An earlier attempt held the lock that this attempt holds now. If that
			// attempt committed, its events are visible by now.
			if err := c.checkCommitted(ctx, before); err != nil {
				return err
			}
		}
		if err := body(ctx, &c); err != nil {
			return err
		}
		attempt.Common.Leave(c.ChannelID, &c.Pending)
		return c.undeclared
	})
	if err != nil {
		return fmt.Errorf("change channel %s: %w", start.ChannelID, err)
	}
	return nil
}

// checkCommitted returns store.ErrCommitted if events of this operation exist. They can
// only follow the events that the channel had before the first attempt. An operation
// that emits no events may run again: it must only set values, or change nothing.
func (c *Change) checkCommitted(ctx context.Context, before int64) error {
	var count int
	err := store.QueryRow(ctx, c.Tx, "SELECT COUNT(*) FROM events WHERE channel_id = ? AND sequence > ? AND operation_id = ?",
		[]any{c.ChannelID, before, c.operationID}, &count)
	if err == nil && count > 0 {
		return store.ErrCommitted
	}
	return err
}

// Emit adds an event to the change. target is the user whom the event affects; zero for
// none.
func (c *Change) Emit(kind eventtype.Type, target uid.ID, payload proto.Message) {
	c.EmitOf(c.ActorID, kind, target, payload)
}

// EmitOf is Emit with an explicit actor. Every user whom the payload names must be the
// actor or the target: when a user is forgotten, the events are found by these fields.
func (c *Change) EmitOf(actor uid.ID, kind eventtype.Type, target uid.ID, payload proto.Message) {
	if err := kind.CheckPayload(payload); err != nil {
		c.undeclared = errors.Join(c.undeclared, err)
	}
	c.sequence++
	e := event{
		id: uid.New(), channelID: c.ChannelID, sequence: c.sequence, kind: kind, operationID: c.operationID,
		clientID: c.ClientID, requestID: c.requestID, traceparent: c.traceparent,
		occurredAt: c.Now, payload: string(jsonapi.Marshal(payload)),
	}
	if !actor.IsZero() {
		e.actorID = &actor
	}
	if !target.IsZero() {
		e.targetID = &target
	}
	c.events = append(c.events, e)
}

// KeepEvidence stores evidence with the event that was emitted last: a JSON array, or nothing
// if it is empty. The log shows it. Listeners do not receive it.
func (c *Change) KeepEvidence(evidence string) { c.KeepEvidenceOf(c.LastSequence(), evidence) }

// KeepEvidenceOf is KeepEvidence for the event of the transaction with a sequence.
func (c *Change) KeepEvidenceOf(sequence int64, evidence string) {
	if i := len(c.events) - 1 - int(c.sequence-sequence); evidence != "" {
		c.events[i].evidence = &evidence
	}
}

// ByNobody runs body with no actor and no client. It is for expirations that happened
// before the caller's change and for which no event was emitted yet.
func (c *Change) ByNobody(body func()) {
	actor, client := c.ActorID, c.ClientID
	c.ActorID, c.ClientID = uid.ID{}, ""
	body()
	c.ActorID, c.ClientID = actor, client
}
