package webhooks

import (
	"context"
	"strings"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/webhook"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/authn"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/outbox"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/validate"
	"github.com/moderato-live/moderato/server/watch"
)

// CreateWebhook creates a webhook that receives the events from now on.
func (s *Service) CreateWebhook(ctx context.Context, req *moderatov1.CreateWebhookRequest) (*moderatov1.CreateWebhookResponse, error) {
	f := validate.Of(req)
	channel := channelOf(ctx, f, req.GetChannelId())
	address := s.receiver(f, req.GetUrl())
	types := watch.ParseTypes(f, req.GetType())
	if err := f.Err(); err != nil {
		return nil, err
	}
	caller := authn.FromContext(ctx)
	want := &ent.Webhook{
		ID: uid.New(), ClientID: caller.ClientID, URL: address, Types: strings.Join(types, " "), Secret: newSecret(),
	}
	if !channel.IsZero() {
		want.ChannelID = &channel
	}
	if caller.ActsAsUser() {
		want.UserID = &caller.UserID
	}
	err := s.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, attempt store.Attempt) error {
		if attempt.Unknown {
			exists, err := s.exists(ctx, tx, want.ID)
			if err != nil {
				return err
			}
			if exists {
				return store.ErrCommitted
			}
		}
		return s.create(ctx, tx, want)
	})
	if err != nil {
		return nil, ofOwn(req.GetChannelId(), err)
	}
	s.Engine.Look()
	result := &moderatov1.CreateWebhookResponse{
		Id: want.ID.String(), Url: want.URL, Type: types, Secret: want.Secret, CreatedAt: want.CreatedAt.Proto(),
		ChannelId: optional(want.ChannelID),
	}
	return result, nil
}

// exists reports whether an earlier attempt created the webhook. The COMMIT of that
// attempt may still be in progress; exists waits for it.
func (s *Service) exists(ctx context.Context, tx *ent.Tx, id uid.ID) (bool, error) {
	if err := lock(ctx, s.Store, tx, id); err != nil {
		return false, err
	}
	return tx.Webhook.Query().Where(webhook.ID(id)).Exist(ctx)
}

// create inserts a webhook. The webhook is due immediately, so that it counts as idle
// only after a server has examined every event since its creation.
func (s *Service) create(ctx context.Context, tx *ent.Tx, w *ent.Webhook) error {
	isUnknown, err := s.lockChannel(ctx, tx, channelID(w))
	if err != nil {
		return err
	}
	now, err := authorize(ctx, s.Store, tx, channelID(w))
	switch {
	case err != nil:
		return err
	case isUnknown:
		return apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)
	}
	if err := checkLimit(ctx, tx, w); err != nil {
		return err
	}
	at, err := outbox.ReadPositions(ctx, tx)
	if err != nil {
		return err
	}
	w.CreatedAt, w.Position = now, at.Last
	return tx.Webhook.Create().SetID(w.ID).SetNillableChannelID(w.ChannelID).SetNillableUserID(w.UserID).SetClientID(w.ClientID).
		SetURL(w.URL).SetTypes(w.Types).SetSecret(w.Secret).SetCreatedAt(now).SetPosition(at.Last).SetHeardFrom(now).SetNextAt(now).
		Exec(ctx)
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

func checkLimit(ctx context.Context, tx *ent.Tx, w *ent.Webhook) error {
	q := ofChannel(tx.Webhook.Query(), channelID(w))
	if w.UserID == nil {
		q = q.Where(webhook.UserIDIsNil())
	} else {
		q = q.Where(webhook.UserIDNotNil())
	}
	n, err := q.Count(ctx)
	if err == nil && n >= maxWebhooks {
		return apierr.New(moderatov1.Reason_REASON_WEBHOOK_LIMIT_REACHED)
	}
	return err
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

func optional(id *uid.ID) *string {
	if id == nil {
		return nil
	}
	text := id.String()
	return &text
}
