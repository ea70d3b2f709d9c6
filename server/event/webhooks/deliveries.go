package webhooks

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/webhookdelivery"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

// ListWebhookDeliveries returns a page of a webhook's deliveries.
func (s *Service) ListWebhookDeliveries(ctx context.Context, req *moderatov1.ListWebhookDeliveriesRequest) (*moderatov1.ListWebhookDeliveriesResponse, error) {
	f := validate.Of(req)
	id := f.UUID("webhookId", req.GetWebhookId())
	limit := f.Limit("limit", req.Limit)
	if err := f.Err(); err != nil {
		return nil, err
	}
	list, before := "ListWebhookDeliveries/"+id.String(), int64(math.MaxInt64)
	if err := paging.Read(ctx, s.Store, list, req.GetCursor(), &before); err != nil {
		return nil, err
	}
	if _, err := s.read(ctx, id); err != nil {
		return nil, err
	}
	rows, err := s.Store.Read.WebhookDelivery.Query().
		Where(webhookdelivery.WebhookID(id), webhookdelivery.PositionLT(before)).
		Order(ent.Desc(webhookdelivery.FieldPosition)).Limit(limit + 1).
		All(ctx)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	page, pagination, err := paging.Cut(ctx, s.Store, list, rows, limit, func(d *ent.WebhookDelivery) any { return d.Position })
	result := &moderatov1.ListWebhookDeliveriesResponse{Pagination: pagination}
	for _, d := range page {
		result.Rows = append(result.Rows, shownDelivery(d))
	}
	return result, err
}

func shownDelivery(d *ent.WebhookDelivery) *moderatov1.WebhookDelivery {
	row := &moderatov1.WebhookDelivery{
		Id: d.ID.String(), EventId: d.EventID.String(), Type: d.Type, Status: d.Status,
		Attempts: d.Attempts, LastStatus: d.LastStatus, LastError: orNull(d.LastError),
	}
	if d.Status == pending {
		row.NextAttemptAt = d.NextAttemptAt.Proto()
	}
	row.DeliveredAt = optionalTime(deliveredAt(d))
	return row
}

// deliveredAt returns when a delivery was delivered. A server of a version before the
// column delivered_at recorded only when the delivery ended.
func deliveredAt(d *ent.WebhookDelivery) *instant.Instant {
	if d.DeliveredAt == nil && d.Status == delivered {
		return d.FinishedAt
	}
	return d.DeliveredAt
}

// RedeliverWebhookEvent sends an event once more.
func (s *Service) RedeliverWebhookEvent(ctx context.Context, req *moderatov1.RedeliverWebhookEventRequest) (*moderatov1.RedeliverWebhookEventResponse, error) {
	f := validate.Of(req)
	id, eventID := f.UUID("webhookId", req.GetWebhookId()), f.UUID("eventId", req.GetEventId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	err := s.change(ctx, id, func(ctx context.Context, tx *ent.Tx, w *ent.Webhook, now instant.Instant) error {
		found, err := outbox.ByID(ctx, s.Store, tx, []uid.ID{eventID})
		if err != nil {
			return err
		}
		e := found[eventID]
		if e == nil || !sends(w, e) {
			return apierr.New(moderatov1.Reason_REASON_EVENT_NOT_FOUND)
		}
		if w.DisabledReason != enabled {
			return apierr.New(moderatov1.Reason_REASON_WEBHOOK_DISABLED)
		}
		return redeliver(ctx, tx, w, e, now)
	})
	if err != nil {
		return nil, err
	}
	s.Engine.nudge(id)
	return &moderatov1.RedeliverWebhookEventResponse{}, nil
}

// sends reports whether an event is of the webhook's channel and types, and not after
// the webhook's position.
func sends(w *ent.Webhook, e *outbox.Event) bool {
	types := strings.Fields(w.Types)
	return e.Position <= w.Position && (w.ChannelID == nil || *w.ChannelID == e.ChannelID) &&
		(len(types) == 0 || slices.Contains(types, string(e.Type)))
}

// redeliver makes the delivery of an event pending again, or creates it. If a server
// works on the webhook, it finds the delivery. Otherwise the webhook becomes due.
func redeliver(ctx context.Context, tx *ent.Tx, w *ent.Webhook, e *outbox.Event, now instant.Instant) error {
	d, err := tx.WebhookDelivery.Query().Where(webhookdelivery.WebhookID(w.ID), webhookdelivery.Position(e.Position)).Only(ctx)
	if err != nil && !ent.IsNotFound(err) {
		return err
	}
	if d == nil || d.Status != pending {
		err = repeat(ctx, tx, w, d, e, now)
	} else { // a pending delivery keeps its place in the order
		err = tx.WebhookDelivery.UpdateOne(d).SetNextAttemptAt(now).Exec(ctx)
	}
	if err != nil {
		return err
	}
	change := tx.Webhook.UpdateOne(w).ClearPausedUntil() // the caller knows that the receiver is back
	if !w.IsClaimed {
		change.SetNextAt(now)
	}
	return change.Exec(ctx)
}

// repeat makes a delivery that has ended pending again, or creates that of an event which has
// none.
func repeat(ctx context.Context, tx *ent.Tx, w *ent.Webhook, d *ent.WebhookDelivery, e *outbox.Event, now instant.Instant) error {
	n, err := pendingOf(tx, w.ID, true).Count(ctx)
	switch {
	case err != nil:
		return err
	case n >= maxRepeats:
		return apierr.New(moderatov1.Reason_REASON_REDELIVERY_LIMIT_REACHED)
	case d == nil:
		return tx.WebhookDelivery.Create().SetID(uid.New()).SetWebhookID(w.ID).SetChannelID(e.ChannelID).SetEventID(e.ID).
			SetPosition(e.Position).SetType(string(e.Type)).SetStatus(pending).SetIsRepeat(true).SetNextAttemptAt(now).
			Exec(ctx)
	}
	return tx.WebhookDelivery.UpdateOne(d).SetStatus(pending).SetIsRepeat(true).SetNillableDeliveredAt(deliveredAt(d)).
		SetTries(0).ClearFirstAttemptAt().SetNextAttemptAt(now).ClearFinishedAt().ClearLastStatus().SetLastError("").
		Exec(ctx)
}
