// Package events is the outbox: what happens in a channel is written in the
// transaction that makes it happen, in the channel's own sequence, for delivery
// later and as the log of who did what.
package events

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/channel"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/auth"
	"github.com/moderato-live/moderato/server/fair"
	"github.com/moderato-live/moderato/server/fault"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/jsonapi"
	"github.com/moderato-live/moderato/server/policy"
	"github.com/moderato-live/moderato/server/requestid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
)

// Change is a change of one channel, in its transaction, with the channel
// locked: of two changes of a channel, one sees all of the other.
type Change struct {
	// Tx is the transaction.
	Tx *ent.Tx
	// Store is what the transaction is of.
	Store *store.Store
	// ChannelID is the channel.
	ChannelID uid.ID
	// Now is when the change happens, by the database's clock.
	Now instant.Instant
	// ActorID is the user who makes it; zero when nobody does.
	ActorID uid.ID
	// ClientID is the client through which they make it; empty when nobody does.
	ClientID string
	// Row is what the change does to the channel's own row. It is written at the
	// end, with what the events do to it, in one statement: a channel that many
	// follow at once is locked for as long as the statements of a change take. Until
	// then the row reads as it was.
	Row *ent.ChannelUpdate
	// LiveStartedAt is when the channel's live stream began, as of the lock; nil
	// when it is not live.
	LiveStartedAt *instant.Instant

	operationID    uid.ID
	requestID      string
	exists         bool
	sequence       int64
	activityNumber int64
	pending        []*ent.EventCreate
}

// Apply makes a change on behalf of the caller of the present request, who must
// be to the channel what the policy of the method requires. An error of body undoes it.
// body may run more than once, and only its last run counts.
func Apply(ctx context.Context, s *store.Store, channelID uid.ID, body func(context.Context, *Change) error) error {
	return authorized(ctx, s, channelID, users.Key{}, func(ctx context.Context, c *Change, _ *users.Joined) error { return body(ctx, c) })
}

// ApplyTo is Apply for what is about a user, whom it hands to body; unknown:
// USER_NOT_FOUND.
func ApplyTo(ctx context.Context, s *store.Store, channelID uid.ID, about users.Key, body func(context.Context, *Change, *ent.User) error) error {
	return authorized(ctx, s, channelID, about, func(ctx context.Context, c *Change, found *users.Joined) error {
		u, err := found.User()
		if err != nil {
			return err
		}
		return body(ctx, c, u)
	})
}

func authorized(ctx context.Context, s *store.Store, channelID uid.ID, about users.Key, body func(context.Context, *Change, *users.Joined) error) error {
	caller := auth.FromContext(ctx)
	ctx, err := prioritized(ctx, s, channelID)
	if err != nil {
		return err
	}
	return apply(ctx, s, Change{ChannelID: channelID, ActorID: caller.UserID, ClientID: caller.ClientID},
		func(ctx context.Context, c *Change) error {
			var err error
			var found users.Joined
			if c.Now, err = policy.AuthorizeAbout(ctx, s, c.Tx, channelID, about, &found); err != nil {
				return err
			}
			if !c.exists {
				return fault.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)
			}
			return body(ctx, c, &found)
		})
}

// prioritized gives the change of the present request priority if it is moderation.
// When even such a change would wait too long, nobody looks whether it is.
func prioritized(ctx context.Context, s *store.Store, channelID uid.ID) (context.Context, error) {
	high := fair.WithPriority(ctx, fair.High)
	if err := s.Turns.Check(high, channelID); err != nil {
		return nil, err
	}
	if policy.HasPriority(ctx, s, channelID) {
		return high, nil
	}
	return ctx, nil
}

// ApplyUnattended makes a change that nobody asked for, such as the lapse of a
// mute. A channel that is gone meanwhile is left alone.
func ApplyUnattended(ctx context.Context, s *store.Store, channelID uid.ID, body func(context.Context, *Change) error) error {
	return apply(ctx, s, Change{ChannelID: channelID}, func(ctx context.Context, c *Change) error {
		var err error
		if c.Now, err = s.Clock.Now(ctx, c.Tx); err != nil || !c.exists {
			return err
		}
		return body(ctx, c)
	})
}

func apply(ctx context.Context, s *store.Store, start Change, body func(context.Context, *Change) error) error {
	start.Store, start.operationID, start.requestID = s, uid.New(), requestid.FromContext(ctx)
	done, err := s.Turns.Take(ctx, start.ChannelID)
	if err != nil {
		return fmt.Errorf("change channel %s: wait for a turn: %w", start.ChannelID, err)
	}
	defer done()
	defer s.Written.Raise()
	var before *int64 // the channel's last event when an attempt first held the lock
	err = s.Write(ctx, func(ctx context.Context, tx *ent.Tx, attempt store.Attempt) error {
		c := start
		c.Tx, c.Row = tx, tx.Channel.Update().Where(channel.ID(c.ChannelID)) // not UpdateOne, which would read the row again
		if err := c.lock(ctx); err != nil {
			return err
		}
		if before == nil {
			before = new(c.sequence) // a copy: events of the change count it up
		}
		if attempt.Unknown {
			// Whatever an earlier attempt wrote is visible now or never: it held
			// the lock that we hold.
			if err := c.checkCommitted(ctx, *before); err != nil {
				return err
			}
		}
		if err := body(ctx, &c); err != nil {
			return err
		}
		if err := c.flush(ctx); err != nil {
			return err
		}
		// The next one asks for the lock while this commits. Should the commit fail,
		// this is run again beside the line: rightly, for the lock is what counts.
		done()
		return nil
	})
	if err != nil {
		return fmt.Errorf("change channel %s: %w", start.ChannelID, err)
	}
	return nil
}

func (c *Change) lock(ctx context.Context) error {
	err := store.QueryRow(ctx, c.Tx, "SELECT event_sequence, activity_number, live_started_at FROM channels WHERE id = ?"+c.Store.ForUpdate(),
		[]any{c.ChannelID}, &c.sequence, &c.activityNumber, &c.LiveStartedAt)
	if errors.Is(err, store.ErrNoRows) {
		return nil
	}
	c.exists = err == nil
	return err
}

// NextActivity takes the next number in the channel's list of activities.
func (c *Change) NextActivity() int64 {
	c.activityNumber++
	c.Row.SetActivityNumber(c.activityNumber)
	return c.activityNumber
}

// checkCommitted looks for the events of this operation, which come after those the
// channel had before its first attempt. An operation that emits nothing changes
// nothing, so it may simply run again.
func (c *Change) checkCommitted(ctx context.Context, before int64) error {
	var count int
	err := store.QueryRow(ctx, c.Tx, "SELECT COUNT(*) FROM events WHERE channel_id = ? AND sequence > ? AND operation_id = ?",
		[]any{c.ChannelID, before, c.operationID}, &count)
	if err == nil && count > 0 {
		return store.ErrCommitted
	}
	return err
}

// Emit adds an event to the change: what happened to whom (zero: to nobody).
func (c *Change) Emit(kind Type, target uid.ID, payload proto.Message) {
	c.EmitOf(c.ActorID, kind, target, payload)
}

// EmitOf is Emit of what another user had caused than the one who makes the
// change. Whom a payload names, the event must have as actor or target: by these
// it is found when a user is forgotten.
func (c *Change) EmitOf(actor uid.ID, kind Type, target uid.ID, payload proto.Message) {
	c.sequence++
	event := c.Tx.Event.Create().
		SetID(uid.New()).
		SetChannelID(c.ChannelID).
		SetSequence(c.sequence).
		SetType(string(kind)).
		SetOperationID(c.operationID).
		SetClientID(c.ClientID).
		SetRequestID(c.requestID).
		SetOccurredAt(c.Now).
		SetPayload(string(jsonapi.Marshal(payload)))
	if !actor.IsZero() {
		event.SetActorID(actor)
	}
	if !target.IsZero() {
		event.SetTargetID(target)
	}
	c.pending = append(c.pending, event)
}

// ByNobody has body tell of what happened by itself, before the change that the
// caller makes: a lapse that nobody had told of.
func (c *Change) ByNobody(body func()) {
	actor, client := c.ActorID, c.ClientID
	c.ActorID, c.ClientID = uid.ID{}, ""
	body()
	c.ActorID, c.ClientID = actor, client
}

func (c *Change) flush(ctx context.Context) error {
	if len(c.pending) > 0 {
		if err := c.Tx.Event.CreateBulk(c.pending...).Exec(ctx); err != nil {
			return fmt.Errorf("write events: %w", err)
		}
		c.Row.SetEventSequence(c.sequence)
	}
	if err := c.Row.Exec(ctx); err != nil {
		return fmt.Errorf("write the channel's row: %w", err)
	}
	return nil
}
