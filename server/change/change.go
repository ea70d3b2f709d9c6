// Package change makes the changes of channels. A change locks its channel, authorizes the
// caller, and writes its events in the same transaction, in the channel's own sequence.
// The changes of a channel first queue in the server: see changequeue.
//
// Apply makes a change in a transaction of its own. An Operation makes the frequent changes:
// those that wait for the channel at the same time are made together, by one function over a
// list of requests.
package change

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/channel"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/changequeue"
	"github.com/moderato-live/moderato/internal/fair"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/jsonapi"
	"github.com/moderato-live/moderato/internal/requestid"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/buckets"
)

// Change is a change of one channel, in its transaction, with the channel locked. The
// changes of a channel are serialized: the later one sees all of the earlier one.
type Change struct {
	author
	// Locked holds columns of the channel's row, as of the lock.
	Locked

	// Tx is the transaction.
	Tx *ent.Tx
	// Store is the store of the transaction.
	Store *store.Store
	// ChannelID is the id of the channel.
	ChannelID uid.ID
	// Now is the time of the change, by the database's clock.
	Now instant.Instant

	exists       bool
	followers    int64
	newFollowers int64
	hasActivity  bool // activityNumber has changed
	events       []event
	counted      buckets.Counts // what the metrics of the channel count of the change
	undeclared   error          // the events that the contract does not declare
}

// author is who makes a change, and in which call.
type author struct {
	// ActorID is the user who makes the change; zero when there is none.
	ActorID uid.ID
	// ClientID is the client through which the user makes the change; empty when there
	// is none.
	ClientID string

	operationID uid.ID
	requestID   string
	traceparent string
}

// ModeratorID returns ActorID as events have it; nil when there is none.
func (a *author) ModeratorID() *string {
	if a.ActorID.IsZero() {
		return nil
	}
	return new(a.ActorID.String())
}

// newAuthor returns the author of a new operation of the current request.
func newAuthor(ctx context.Context, s *store.Store, caller *authn.Caller) author {
	a := author{operationID: uid.New(), requestID: requestid.FromContext(ctx), traceparent: s.Tracer().Kept(ctx)}
	if caller != nil {
		a.ActorID, a.ClientID = caller.UserID, caller.ClientID
	}
	return a
}

// Apply makes a change on behalf of the caller of the present request. The caller must
// have the relation to the channel that the policy of the method requires. If body
// returns an error, the change is rolled back. body may run more than once, and only its
// last run takes effect.
func Apply(ctx context.Context, s *store.Store, channelID uid.ID, body func(context.Context, *Change) error) error {
	return authorized(ctx, s, channelID, s.ChangeQueues.Acquire, body)
}

// ApplyLong is Apply for a change of many rows, which lets the changes of moderators pass:
// see changequeue.
func ApplyLong(ctx context.Context, s *store.Store, channelID uid.ID, body func(context.Context, *Change) error) error {
	return authorized(ctx, s, channelID, s.ChangeQueues.AcquireLong, body)
}

// ApplyTo is Apply for a change about a user. It passes the user to body, and returns
// USER_NOT_FOUND if the user is unknown.
func ApplyTo(ctx context.Context, s *store.Store, channelID uid.ID, about users.Key, body func(context.Context, *Change, *ent.User) error) error {
	return Apply(ctx, s, channelID, func(ctx context.Context, c *Change) error {
		user, err := users.Find(ctx, c.Tx.User, about)
		if err != nil {
			return err
		}
		return body(ctx, c, user)
	})
}

// ApplyUnattended makes a change that no caller requested, such as the expiration of a
// mute. It does nothing if the channel no longer exists.
func ApplyUnattended(ctx context.Context, s *store.Store, channelID uid.ID, body func(context.Context, *Change) error) error {
	return apply(ctx, s, channelID, newAuthor(ctx, s, nil), s.ChangeQueues.AcquireLong, func(ctx context.Context, c *Change) error {
		var err error
		if c.Now, err = s.Clock.Now(ctx, c.Tx); err != nil || !c.exists {
			return err
		}
		return body(ctx, c)
	})
}

// acquire waits for the turn of a change.
type acquire = func(context.Context, uid.ID) (*changequeue.Turn, error)

func authorized(ctx context.Context, s *store.Store, channelID uid.ID, wait acquire, body func(context.Context, *Change) error) error {
	ctx, err := prioritized(ctx, s, channelID)
	if err != nil {
		return err
	}
	return apply(ctx, s, channelID, newAuthor(ctx, s, authn.FromContext(ctx)), wait, func(ctx context.Context, c *Change) error {
		refusals, err := c.authorize(ctx, authz.ClaimOf(ctx))
		switch {
		case err != nil:
			return err
		case refusals[0] != nil:
			return refusals[0]
		}
		return body(ctx, c)
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

func apply(ctx context.Context, s *store.Store, channelID uid.ID, by author, wait acquire, body func(context.Context, *Change) error) error {
	turn, err := wait(ctx, channelID)
	if err != nil {
		return fmt.Errorf("change channel %s: wait for a turn: %w", channelID, err)
	}
	defer turn.End()
	before := int64(math.MaxInt64) // the channel's last event before any attempt of this change
	var c *Change
	err = s.Write(ctx, func(ctx context.Context, tx *ent.Tx, attempt store.Attempt) (err error) {
		if c, err = begin(ctx, s, tx, channelID); err != nil {
			return err
		}
		c.author = by
		before = min(before, c.sequence)
		if attempt.Unknown {
			if err := c.checkCommitted(ctx, before, by.operationID); err != nil {
				return err
			}
		}
		if err := body(ctx, c); err != nil {
			return err
		}
		if err := c.finish(ctx); err != nil {
			return err
		}
		turn.Release()
		return nil
	})
	c.end(err)
	if err != nil {
		return fmt.Errorf("change channel %s: %w", channelID, err)
	}
	return nil
}

// end tells the sequencer of events that were written, if the change has any: a change that
// failed may have been committed. If it was committed, end counts it. It must be called after the
// transaction, with its error.
func (c *Change) end(err error) {
	if c == nil {
		return
	}
	if len(c.events) > 0 {
		c.Store.Written.Raise()
	}
	if err == nil {
		c.Store.Buckets.Add(c.ChannelID, c.Now, c.counted)
	}
}

// begin locks a channel, and returns a change of it.
func begin(ctx context.Context, s *store.Store, tx *ent.Tx, channelID uid.ID) (*Change, error) {
	found, err := Lock(ctx, s, tx, channelID)
	c := &Change{Tx: tx, Store: s, ChannelID: channelID}
	if row := found[channelID]; row != nil {
		c.Locked, c.exists = *row, true
	}
	return c, err
}

// checkCommitted returns store.ErrCommitted if events of an operation exist. An earlier attempt
// held the lock that this one holds now, so its events are visible if it committed. They can
// only follow the events that the channel had before the first attempt. An operation
// that emits no events may run again: it must only set values, or change nothing.
func (c *Change) checkCommitted(ctx context.Context, before int64, operationID uid.ID) error {
	isCommitted := false
	err := store.QueryEach(ctx, c.Tx, "SELECT type, occurred_at FROM events WHERE channel_id = ? AND sequence > ? AND operation_id = ?",
		[]any{c.ChannelID, before, operationID}, func(scan func(...any) error) error {
			var kind eventtype.Type
			err := scan(&kind, &c.Now)
			c.count(kind)
			isCommitted = true
			return err
		})
	if err == nil && isCommitted {
		return store.ErrCommitted
	}
	return err
}

// count counts an event for the metrics of the channel.
func (c *Change) count(kind eventtype.Type) {
	switch kind {
	case "channel.follow":
		c.counted.Follows++
	case "channel.ban":
		c.counted.Bans++
	case "channel.mute":
		c.counted.Mutes++
	}
}

// ReportViewers counts a number of viewers for the metrics of the channel.
func (c *Change) ReportViewers(n int64) { c.counted.ReportViewers(&n) }

// authorize sets the time of the change, and returns the error of each caller who may not
// make it.
func (c *Change) authorize(ctx context.Context, claims ...authz.Claim) (refusals []error, err error) {
	c.Now, refusals, err = authz.Authorize(ctx, c.Store, c.Tx, c.ChannelID, claims...)
	for i, refusal := range refusals {
		if refusal == nil && !c.exists {
			refusals[i] = apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)
		}
	}
	return refusals, err
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
	c.count(kind)
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

// KeepEvidenceOf is KeepEvidence for the event of the change with a sequence.
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

// CountFollowers adds to the counters of the channel's followers, and of those who followed
// during the live stream.
func (c *Change) CountFollowers(all, duringStream int64) {
	c.followers += all
	c.newFollowers += duringStream
}

// LastSequence returns the sequence of the channel's last event, including those that the
// change will write.
func (c *Change) LastSequence() int64 { return c.sequence }

// NextActivity returns the next number in the channel's list of activities.
func (c *Change) NextActivity() int64 {
	c.activityNumber++
	c.hasActivity = true
	return c.activityNumber
}

// eventsPerStatement is how many events one statement writes. The driver of SQLite takes
// time that grows with the square of the number of parameters.
const eventsPerStatement = 50

// finish writes the events and the channel's row. Until then, a read of the row returns its
// old values.
func (c *Change) finish(ctx context.Context) error {
	if c.undeclared != nil {
		return c.undeclared
	}
	for some := range slices.Chunk(c.events, eventsPerStatement) {
		if err := insertEvents(ctx, c.Tx, some); err != nil {
			return fmt.Errorf("write events: %w", err)
		}
	}
	if err := c.writeRow(ctx); err != nil {
		return fmt.Errorf("write the row of the channel: %w", err)
	}
	return nil
}

func (c *Change) writeRow(ctx context.Context) error {
	if len(c.events) == 0 && !c.hasActivity && c.followers == 0 && c.newFollowers == 0 {
		return nil
	}
	row := c.Tx.Channel.Update().Where(channel.ID(c.ChannelID)).SetEventSequence(c.sequence) // UpdateOne would read the row again
	if c.hasActivity {
		row.SetActivityNumber(c.activityNumber)
	}
	if c.followers != 0 {
		row.AddFollowerCount(c.followers)
	}
	if c.newFollowers != 0 {
		row.AddNewFollowerCount(c.newFollowers)
	}
	return row.Exec(ctx)
}
