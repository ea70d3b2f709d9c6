package sessions

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/eventsession"
	"github.com/moderato-live/moderato/ent/eventsubscription"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

// ListSubscriptions returns a page of the caller's subscriptions.
func (s *Service) ListSubscriptions(ctx context.Context, req *moderatov1.ListSubscriptionsRequest) (*moderatov1.ListSubscriptionsResponse, error) {
	f := validate.Of(req)
	sessionID := f.OptionalUUID("sessionId", req.GetSessionId())
	limit := f.Limit("limit", req.Limit)
	if err := f.Err(); err != nil {
		return nil, err
	}
	caller := authn.FromContext(ctx)
	list := "ListSubscriptions/" + caller.ClientID + "/" + caller.UserID.String() + "/" + sessionID.String()
	var after uid.ID
	if err := paging.Read(ctx, s.Store, list, req.GetCursor(), &after); err != nil {
		return nil, err
	}
	rows, err := s.read(ctx, caller, sessionID, after, limit+1)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	page, pagination, err := paging.Cut(ctx, s.Store, list, rows, limit, func(r *ent.EventSubscription) any { return r.ID })
	result := &moderatov1.ListSubscriptionsResponse{Pagination: pagination}
	for _, row := range page {
		result.Rows = append(result.Rows, message(row))
	}
	return result, err
}

// read reads the subscriptions of the sessions of a caller after an id. The ids increase
// with time.
func (s *Service) read(ctx context.Context, caller *authn.Caller, sessionID, after uid.ID, limit int) ([]*ent.EventSubscription, error) {
	now, err := s.Store.Clock.Now(ctx, s.Store.Read)
	if err != nil {
		return nil, err
	}
	q := ofCaller(s.Store.Read.EventSession.Query(), caller).Where(eventsession.SeenAtGTE(now.Add(-Lifetime)))
	if !sessionID.IsZero() {
		q = q.Where(eventsession.ID(sessionID))
	}
	sessions, err := q.IDs(ctx)
	if err != nil || len(sessions) == 0 {
		return nil, err
	}
	return s.Store.Read.EventSubscription.Query().
		Where(eventsubscription.SessionIDIn(sessions...), eventsubscription.IDGT(after)).
		Order(ent.Asc(eventsubscription.FieldID)).Limit(limit).All(ctx)
}

// ListSessionSubscriptions returns the subscriptions of one session of the caller.
func (s *Service) ListSessionSubscriptions(ctx context.Context, req *moderatov1.ListSessionSubscriptionsRequest) (*moderatov1.ListSessionSubscriptionsResponse, error) {
	f := validate.Of(req)
	id := f.UUID("sessionId", req.GetSessionId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	rows, err := s.ofSession(ctx, id)
	result := &moderatov1.ListSessionSubscriptionsResponse{}
	for _, row := range rows {
		m := message(row)
		result.Subscriptions = append(result.Subscriptions, &moderatov1.SessionSubscription{Type: m.GetType(), Version: m.GetVersion(), Condition: m.GetCondition()})
	}
	return result, s.Store.Classify(err)
}

// ofSession reads the subscriptions of a session that is the caller's, or nobody's yet.
func (s *Service) ofSession(ctx context.Context, id uid.ID) ([]*ent.EventSubscription, error) {
	now, err := s.Store.Clock.Now(ctx, s.Store.Read)
	if err != nil {
		return nil, err
	}
	session, err := s.Store.Read.EventSession.Query().Where(eventsession.ID(id), eventsession.SeenAtGTE(now.Add(-Lifetime))).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, apierr.New(moderatov1.Reason_REASON_SESSION_NOT_FOUND)
	case err != nil, session.ClientID == nil:
		return nil, err
	case !isOf(session, authn.FromContext(ctx)):
		return nil, apierr.New(moderatov1.Reason_REASON_AUTH_CONTEXT_MISMATCH)
	}
	return s.Store.Read.EventSubscription.Query().Where(eventsubscription.SessionID(id)).
		Order(ent.Asc(eventsubscription.FieldID)).Limit(maxSubscriptions).All(ctx)
}

func message(row *ent.EventSubscription) *moderatov1.EventSubscription {
	condition := &moderatov1.SubscriptionCondition{ChannelId: row.ChannelID.String()}
	if !row.ConditionUserID.IsZero() {
		condition.UserId = row.ConditionUserID.String()
	}
	return &moderatov1.EventSubscription{
		Id: row.ID.String(), Type: row.Type, Version: version, Condition: condition,
		SessionId: row.SessionID.String(), CreatedAt: row.CreatedAt.Proto(),
	}
}
