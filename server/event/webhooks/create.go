package webhooks

import (
	"context"
	"slices"
	"strings"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/application"
	"github.com/moderato-live/moderato/ent/channel"
	"github.com/moderato-live/moderato/ent/predicate"
	"github.com/moderato-live/moderato/ent/user"
	"github.com/moderato-live/moderato/ent/webhook"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/event/hearing"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// CreateWebhook creates a webhook that receives the events from now on.
func (s *Service) CreateWebhook(ctx context.Context, req *moderatov1.CreateWebhookRequest) (*moderatov1.CreateWebhookResponse, error) {
	f := validate.Of(req)
	about := channelOf(ctx, f, req.GetChannelId())
	address := s.receiver(f, req.GetUrl())
	names := f.EventTypes(req.GetType())
	if err := f.Err(); err != nil {
		return nil, err
	}
	caller := authn.FromContext(ctx)
	wish, err := hearing.Ask(caller, about, eventtype.TypesNamed(names))
	if err != nil {
		return nil, err
	}
	want := &ent.Webhook{
		ID: uid.New(), ClientID: caller.ClientID, URL: address, Types: strings.Join(names, " "), Secret: newSecret(),
	}
	if !about.IsZero() {
		want.ChannelID = &about
	}
	if caller.ActsAsUser() {
		want.UserID = &caller.UserID
	}
	respond := idempotency.Response(ctx, func() *moderatov1.CreateWebhookResponse {
		return &moderatov1.CreateWebhookResponse{
			Id: want.ID.String(), Url: want.URL, Type: strings.Fields(want.Types), Secret: want.Secret, CreatedAt: want.CreatedAt.Proto(),
			ChannelId: uid.Text(want.ChannelID),
		}
	})
	err = s.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, attempt store.Attempt) error {
		if attempt.Unknown {
			exists, err := s.exists(ctx, tx, want.ID)
			if err != nil {
				return err
			}
			if exists {
				return store.ErrCommitted
			}
		}
		return s.create(ctx, tx, wish, want)
	})
	if err != nil {
		return nil, ofOwn(req.GetChannelId(), err)
	}
	s.Engine.Look()
	return respond(), nil
}

// exists reports whether an earlier attempt created the webhook. The COMMIT of that
// attempt may still be in progress; exists waits for it.
func (s *Service) exists(ctx context.Context, tx *ent.Tx, id uid.ID) (bool, error) {
	if err := lock(ctx, tx, id); err != nil {
		return false, err
	}
	return tx.Webhook.Query().Where(webhook.ID(id)).Exist(ctx)
}

// create inserts a webhook. The webhook is due immediately, so that it counts as idle
// only after a server has examined every event since its creation.
func (s *Service) create(ctx context.Context, tx *ent.Tx, wish *hearing.Wish, w *ent.Webhook) error {
	standing, now, err := authorize(ctx, s.Store, tx, channelID(w))
	if err != nil {
		return err
	}
	w.Holder = holderOf(wish.Caller, standing)
	isUnknown, err := s.lockHolder(ctx, tx, w)
	if err != nil {
		return err
	}
	// The token may have been revoked, and the standing lost, during the wait for the lock.
	if err := authz.HoldToken(ctx, s.Store, tx); err != nil {
		return err
	}
	if standing, err = hearing.StandingIn(ctx, s.Store.Clock, tx, wish.Caller, channelID(w)); err != nil {
		return err
	}
	types, err := wish.Types(standing)
	authz.MarkListener(ctx)
	switch {
	case err != nil:
		return err
	case isUnknown:
		return apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)
	}
	if w.Types == "" {
		// A receiver that did not ask for chat does not get a request for each message.
		types = eventtype.Kept(types)
	}
	w.Audience = audiences[hearing.Narrowest(types)]
	if w.Types == "" && !hearing.IsEverything(types) {
		// The webhook does not gain types later, and is disabled if it loses one, so that
		// its receiver never gets a part of the list without notice.
		w.Types = joined(types)
	}
	if err := checkSame(ctx, tx, w); err != nil {
		return err
	}
	if err := checkLimit(ctx, tx, w); err != nil {
		return err
	}
	at, err := outbox.ReadPositions(ctx, tx)
	if err != nil {
		return err
	}
	// The position alone decides what is sent. A time must not: a change that has read the clock
	// before may commit after the webhook exists, and its event belongs to the webhook.
	w.CreatedAt, w.Position = now, at.Last
	return tx.Webhook.Create().SetID(w.ID).SetNillableChannelID(w.ChannelID).SetNillableUserID(w.UserID).SetClientID(w.ClientID).
		SetURL(w.URL).SetTypes(w.Types).SetSecret(w.Secret).SetCreatedAt(now).SetPosition(at.Last).SetNextAt(now).
		SetAudience(w.Audience).SetHolder(w.Holder).
		Exec(ctx)
}

func joined(types []eventtype.Type) string {
	names := make([]string, len(types))
	for i, kind := range types {
		names[i] = string(kind)
	}
	return strings.Join(names, " ")
}

// holderOf returns the holder of a webhook that a caller creates.
func holderOf(c *authn.Caller, standing hearing.Standing) string {
	switch {
	case c.Kind == authn.App:
		return ofApp
	case c.ActsAsUser() && standing != hearing.Insider:
		return ofViewer
	}
	return ofChannelOrBackend
}

// lockHolder locks the row of the holder of a new webhook, so that the holder's webhooks
// are created one after the other, and reports whether the channel is unknown. Viewers and
// apps do not lock the channel, for whose changes its moderators would have to wait.
func (s *Service) lockHolder(ctx context.Context, tx *ent.Tx, w *ent.Webhook) (isUnknown bool, err error) {
	switch w.Holder {
	case ofApp:
		_, err = tx.Application.Query().Where(application.ID(w.ClientID), store.LockForUpdate).Exist(ctx)
	case ofViewer:
		_, err = tx.User.Query().Where(user.ID(*w.UserID), store.LockForUpdate).Exist(ctx)
	default:
		return s.lockChannel(ctx, tx, channelID(w))
	}
	if err != nil {
		return false, err
	}
	exists, err := tx.Channel.Query().Where(channel.ID(channelID(w))).Exist(ctx)
	return !exists, err
}

// lockChannel locks a channel, so that its webhooks are created one after the other. A
// zero id stands for every channel.
func (s *Service) lockChannel(ctx context.Context, tx *ent.Tx, id uid.ID) (isUnknown bool, err error) {
	if id.IsZero() {
		return false, nil
	}
	found, err := change.Lock(ctx, s.Store, tx, id)
	return found[id] == nil, err
}

// checkSame returns an error if the owner of a new webhook has another one that sends the same
// events to the same receiver, which would receive everything twice.
func checkSame(ctx context.Context, tx *ent.Tx, w *ent.Webhook) error {
	owned := webhook.And(webhook.UserIDIsNil(), webhook.ClientID(w.ClientID))
	if w.UserID != nil {
		owned = webhook.UserID(*w.UserID)
	}
	others, err := ofChannel(tx.Webhook.Query(), channelID(w)).Where(owned, webhook.URL(w.URL)).All(ctx)
	if err != nil {
		return err
	}
	types := slices.Sorted(strings.FieldsSeq(w.Types))
	for _, other := range others {
		if slices.Equal(slices.Sorted(strings.FieldsSeq(other.Types)), types) {
			return &apierr.Error{Reason: moderatov1.Reason_REASON_WEBHOOK_EXISTS, Metadata: map[string]string{apierr.WebhookID: other.ID.String()}}
		}
	}
	return nil
}

// checkLimit returns an error if the holder of a new webhook has the maximum number.
func checkLimit(ctx context.Context, tx *ent.Tx, w *ent.Webhook) error {
	here := webhook.ChannelIDIsNil()
	if w.ChannelID != nil {
		here = webhook.ChannelID(*w.ChannelID)
	}
	held := webhook.Holder(w.Holder)
	type limit struct {
		of    predicate.Webhook
		most  int
		whose string
	}
	var limits []limit
	switch {
	case w.Holder == ofApp:
		own := webhook.And(webhook.ClientID(w.ClientID), held)
		limits = []limit{{webhook.And(own, here), maxWebhooks, "The app has the maximum number of webhooks for this channel."}, {own, maxOfApp, "The app has the maximum number of webhooks."}}
	case w.Holder == ofViewer:
		limits = []limit{
			{webhook.And(webhook.UserID(*w.UserID), held), maxOfViewer, "You have the maximum number of webhooks for channels that you neither own nor moderate."},
			{webhook.And(here, held), maxOfViewers, "The viewers of the channel have the maximum number of webhooks for it."},
		}
	case w.UserID == nil:
		limits = []limit{{webhook.And(here, held, webhook.UserIDIsNil()), maxWebhooks, ""}}
	default:
		limits = []limit{{webhook.And(here, held, webhook.UserIDNotNil()), maxWebhooks, ""}}
	}
	for _, l := range limits {
		n, err := tx.Webhook.Query().Where(l.of, webhook.DisabledReasonNEQ(deleted)).Count(ctx)
		if err != nil {
			return err
		}
		if n >= l.most {
			return &apierr.Error{Reason: moderatov1.Reason_REASON_WEBHOOK_LIMIT_REACHED, Message: l.whose}
		}
	}
	return nil
}

// ofChannel restricts a query to the webhooks of a channel that are not deleted. A zero
// id means the webhooks of every channel.
func ofChannel(q *ent.WebhookQuery, id uid.ID) *ent.WebhookQuery {
	q = q.Where(webhook.DisabledReasonNEQ(deleted))
	if id.IsZero() {
		return q.Where(webhook.ChannelIDIsNil())
	}
	return q.Where(webhook.ChannelID(id))
}
