// Package sessions stores the Socket.IO sessions of all servers, and which events each
// of them receives. Package socketio delivers the events to the sessions of its server.
package sessions

import (
	"context"
	"errors"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/application"
	"github.com/moderato-live/moderato/ent/channel"
	"github.com/moderato-live/moderato/ent/eventsession"
	"github.com/moderato-live/moderato/ent/eventsubscription"
	"github.com/moderato-live/moderato/ent/user"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/event/hearing"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// version is the version of every payload.
	version = "1"
	// maxSubscriptions is how many subscriptions a session may have.
	maxSubscriptions = 100
)

// Service serves EventSubscriptionsService.
type Service struct {
	moderatov1.UnsafeEventSubscriptionsServiceServer

	// Store is the database.
	Store *store.Store
	// Limits bounds the sessions of a caller on all servers, as it does the event streams on
	// each.
	Limits watch.StreamLimits
	// Changed is called with a session whose subscriptions changed, so that its server,
	// if it is this one, need not wait until it looks.
	Changed func(session uid.ID)
}

// CreateSubscription subscribes a session to a type of events of a channel.
func (s *Service) CreateSubscription(ctx context.Context, req *moderatov1.CreateSubscriptionRequest) (*moderatov1.CreateSubscriptionResponse, error) {
	want, err := parse(req)
	if err != nil {
		return nil, err
	}
	caller := authn.FromContext(ctx)
	wish, err := hearing.Ask(caller, want.ChannelID, []eventtype.Type{eventtype.Type(want.Type)})
	if err != nil {
		return nil, err
	}
	want.ID, want.TokenID = uid.New(), caller.Token
	if caller.Kind == authn.Service && caller.ActsAsUser() {
		want.ActingUserID = &caller.UserID
	}
	var stored *ent.EventSubscription
	respond := idempotency.Response(ctx, func() *moderatov1.CreateSubscriptionResponse {
		m := message(stored)
		return &moderatov1.CreateSubscriptionResponse{
			Id: m.GetId(), Type: m.GetType(), Version: m.GetVersion(), Condition: m.GetCondition(), SessionId: m.GetSessionId(), CreatedAt: m.GetCreatedAt(),
		}
	})
	err = s.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		if err := authz.Reauthenticate(ctx, s.Store, tx); err != nil {
			return err
		}
		if err := s.checkMayHear(ctx, tx, wish); err != nil {
			return err
		}
		var err error
		stored, err = s.subscribe(ctx, tx, want)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.Changed(stored.SessionID)
	return respond(), nil
}

func parse(req *moderatov1.CreateSubscriptionRequest) (*ent.EventSubscription, error) {
	f := validate.Of(req)
	want := &ent.EventSubscription{Type: req.GetType()}
	switch {
	case req.GetType() == "":
		f.Add("type", "is required")
	case !eventtype.IsType(req.GetType()):
		f.Add("type", "must be an event type, such as channel.ban or stream.online")
	}
	if req.GetVersion() != "" {
		f.Choice("version", req.GetVersion())
	}
	if req.GetCondition() == nil {
		f.Add("condition", "is required: name the channel in condition.channelId")
	} else {
		want.ChannelID = f.UUID("condition.channelId", req.GetCondition().GetChannelId())
		want.ConditionUserID = f.OptionalUUID("condition.userId", req.GetCondition().GetUserId())
	}
	want.SessionID = f.UUID("sessionId", req.GetSessionId())
	return want, f.Err()
}

// checkMayHear returns an error unless the caller of a wish hears its types in its channel,
// which must exist.
func (s *Service) checkMayHear(ctx context.Context, tx *ent.Tx, wish *hearing.Wish) error {
	standing, err := hearing.StandingIn(ctx, s.Store.Clock, tx, wish.Caller, wish.ChannelID)
	if err != nil {
		return err
	}
	if _, err := wish.Types(standing); err != nil {
		return err
	}
	authz.MarkListener(ctx)
	exists, err := tx.Channel.Query().Where(channel.ID(wish.ChannelID)).Exist(ctx)
	if err == nil && !exists {
		return apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)
	}
	return err
}

// subscribe stores a subscription, unless the session has it, and returns the stored one.
func (s *Service) subscribe(ctx context.Context, tx *ent.Tx, want *ent.EventSubscription) (*ent.EventSubscription, error) {
	session, err := s.lockSession(ctx, tx, want.SessionID)
	if err != nil {
		return nil, err
	}
	now, err := s.Store.Clock.Now(ctx, tx)
	if err != nil {
		return nil, err
	}
	if err := s.claim(ctx, tx, session, now); err != nil {
		return nil, err
	}
	if renewed, err := renew(ctx, tx, want); !ent.IsNotFound(err) {
		return renewed, err
	}
	n, err := tx.EventSubscription.Query().Where(eventsubscription.SessionID(session.ID)).Count(ctx)
	if err != nil {
		return nil, err
	}
	if n >= maxSubscriptions {
		return nil, &apierr.Error{
			Reason:  moderatov1.Reason_REASON_STREAM_LIMIT_REACHED,
			Message: "The session has 100 subscriptions, which is the limit; end one first.",
		}
	}
	at, err := outbox.ReadPositions(ctx, tx)
	if err != nil {
		return nil, err
	}
	if err := tx.EventSession.UpdateOne(session).SetIsChanged(true).Exec(ctx); err != nil {
		return nil, err
	}
	return tx.EventSubscription.Create().SetID(want.ID).SetSessionID(want.SessionID).SetType(want.Type).SetChannelID(want.ChannelID).
		SetConditionUserID(want.ConditionUserID).SetTokenID(want.TokenID).SetNillableActingUserID(want.ActingUserID).
		SetPosition(at.Last).SetCreatedAt(now).
		Save(ctx)
}

// renew gives a subscription that a session has the rights of the newest token, because tokens
// expire. It returns a NotFoundError if the session does not have it, or if it ended by itself
// meanwhile, which the lock of the session does not prevent.
func renew(ctx context.Context, tx *ent.Tx, want *ent.EventSubscription) (*ent.EventSubscription, error) {
	same, err := tx.EventSubscription.Query().Where(eventsubscription.SessionID(want.SessionID), eventsubscription.Type(want.Type),
		eventsubscription.ChannelID(want.ChannelID)).Only(ctx)
	if err != nil {
		return nil, err
	}
	if same.TokenID != want.TokenID {
		if err := tx.EventSession.UpdateOneID(want.SessionID).SetIsChanged(true).Exec(ctx); err != nil {
			return nil, err
		}
	}
	return same.Update().SetTokenID(want.TokenID).SetNillableActingUserID(want.ActingUserID).Save(ctx)
}

// lockSession returns a session and locks its row. A session whose server has not confirmed
// it for a while has ended.
func (s *Service) lockSession(ctx context.Context, tx *ent.Tx, id uid.ID) (*ent.EventSession, error) {
	session, err := tx.EventSession.Query().Where(eventsession.ID(id), store.LockForUpdate).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, apierr.New(moderatov1.Reason_REASON_SESSION_NOT_FOUND)
	}
	if err != nil {
		return nil, err
	}
	now, err := s.Store.Clock.Now(ctx, tx)
	if err == nil && session.SeenAt < now.Add(-Lifetime) {
		return nil, apierr.New(moderatov1.Reason_REASON_SESSION_NOT_FOUND)
	}
	return session, err
}

// claim makes a session that belongs to nobody the caller's. It returns an error if the
// session belongs to another caller, or if the caller has as many sessions as it may.
func (s *Service) claim(ctx context.Context, tx *ent.Tx, session *ent.EventSession, now instant.Instant) error {
	caller := authn.FromContext(ctx)
	if session.ClientID != nil {
		if !isOf(session, caller) {
			return apierr.New(moderatov1.Reason_REASON_AUTH_CONTEXT_MISMATCH)
		}
		return nil
	}
	if err := lockCaller(ctx, tx, caller); err != nil {
		return err
	}
	n, err := ofCaller(tx.EventSession.Query(), caller).Where(eventsession.SeenAtGTE(now.Add(-Lifetime))).Count(ctx)
	if err != nil {
		return err
	}
	update := tx.EventSession.UpdateOne(session).SetClientID(caller.ClientID)
	if caller.ActsAsUser() {
		update.SetUserID(caller.UserID)
	}
	if n >= s.Limits.Of(caller) {
		return apierr.New(moderatov1.Reason_REASON_STREAM_LIMIT_REACHED)
	}
	return update.Exec(ctx)
}

// lockCaller locks the row of a caller's user or, without one, of its client, so that its
// sessions are counted one after the other.
func lockCaller(ctx context.Context, tx *ent.Tx, caller *authn.Caller) error {
	lock := tx.Application.Query().Where(application.ID(caller.ClientID), store.LockForUpdate).Exist
	if caller.ActsAsUser() {
		lock = tx.User.Query().Where(user.ID(caller.UserID), store.LockForUpdate).Exist
	}
	_, err := lock(ctx)
	return err
}

// userOf returns the user to whom a session belongs, or zero.
func userOf(session *ent.EventSession) uid.ID {
	if session.UserID == nil {
		return uid.ID{}
	}
	return *session.UserID
}

// isOf reports whether a session belongs to a caller.
func isOf(session *ent.EventSession, caller *authn.Caller) bool {
	return session.ClientID != nil && *session.ClientID == caller.ClientID && userOf(session) == caller.UserID
}

// ofCaller restricts a query to the sessions of a caller.
func ofCaller(q *ent.EventSessionQuery, caller *authn.Caller) *ent.EventSessionQuery {
	q = q.Where(eventsession.ClientID(caller.ClientID))
	if caller.ActsAsUser() {
		return q.Where(eventsession.UserID(caller.UserID))
	}
	return q.Where(eventsession.UserIDIsNil())
}

// DeleteSubscription ends a subscription.
func (s *Service) DeleteSubscription(ctx context.Context, req *moderatov1.DeleteSubscriptionRequest) (*moderatov1.DeleteSubscriptionResponse, error) {
	f := validate.Of(req)
	id := f.UUID("id", req.GetId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	var session *ent.EventSession
	err := s.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, attempt store.Attempt) error {
		if err := authz.Reauthenticate(ctx, s.Store, tx); err != nil {
			return err
		}
		var err error
		session, err = s.end(ctx, tx, id)
		if attempt.Unknown && errors.Is(err, errNoSubscription) {
			return store.ErrCommitted
		}
		return err
	})
	if err == nil && session != nil {
		s.Changed(session.ID)
	}
	return &moderatov1.DeleteSubscriptionResponse{}, err
}

var errNoSubscription = apierr.New(moderatov1.Reason_REASON_SUBSCRIPTION_NOT_FOUND)

// end removes a subscription of the caller, and returns its session.
func (s *Service) end(ctx context.Context, tx *ent.Tx, id uid.ID) (*ent.EventSession, error) {
	row, err := tx.EventSubscription.Get(ctx, id)
	if ent.IsNotFound(err) {
		return nil, errNoSubscription
	}
	if err != nil {
		return nil, err
	}
	session, err := s.lockSession(ctx, tx, row.SessionID)
	if errors.Is(err, apierr.New(moderatov1.Reason_REASON_SESSION_NOT_FOUND)) {
		return nil, errNoSubscription
	}
	if err != nil {
		return nil, err
	}
	if !isOf(session, authn.FromContext(ctx)) {
		return nil, errNoSubscription
	}
	if n, err := tx.EventSubscription.Delete().Where(eventsubscription.ID(id)).Exec(ctx); err != nil || n == 0 {
		return nil, errors.Join(err, errNoSubscription)
	}
	return session, tx.EventSession.UpdateOne(session).SetIsChanged(true).Exec(ctx)
}
