package webhooks

import (
	"context"
	"errors"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/event"
	"github.com/moderato-live/moderato/ent/webhook"
	"github.com/moderato-live/moderato/ent/webhookdelivery"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/event/hearing"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// rotationTime is how long the former secret is valid after a rotation.
const rotationTime = 24 * time.Hour

// named parses the id of the webhook that a request names.
func named(text string) (uid.ID, error) {
	var f validate.Fields
	id := f.UUID("webhookId", text)
	return id, f.Err()
}

// mayDelete returns an error if the caller may not delete a webhook. Whoever created it may,
// also without the right that it needs.
func mayDelete(ctx context.Context, w *ent.Webhook, standing hearing.Standing) error {
	if standing != hearing.Nobody && isOwn(authn.FromContext(ctx), w) {
		authz.MarkListener(ctx)
		return nil
	}
	return check(ctx, w, standing)
}

// DeleteOfClient marks the webhooks that were created through a client as deleted, whoever
// created them, in the transaction that deletes the client.
func DeleteOfClient(ctx context.Context, tx *ent.Tx, clientID string) error {
	return markedDeleted(tx.Webhook.Update().Where(webhook.ClientID(clientID), webhook.DisabledReasonNEQ(deleted))).Exec(ctx)
}

// DeleteSomeOfClient is DeleteOfClient for at most n webhooks.
func DeleteSomeOfClient(ctx context.Context, tx *ent.Tx, clientID string, n int) error {
	ids, err := ofClient(tx.Webhook, clientID).Limit(n).IDs(ctx)
	if err != nil {
		return err
	}
	return markedDeleted(tx.Webhook.Update().Where(webhook.IDIn(ids...))).Exec(ctx)
}

// HasMoreOfClient reports whether DeleteOfClient would mark more than n webhooks.
func HasMoreOfClient(ctx context.Context, s *store.Store, clientID string, n int) (bool, error) {
	ids, err := ofClient(s.Read.Webhook, clientID).Limit(n + 1).IDs(ctx)
	return len(ids) > n, s.Classify(err)
}

// ofClient returns a query for the webhooks of a client that are not deleted.
func ofClient(c *ent.WebhookClient, clientID string) *ent.WebhookQuery {
	return c.Query().Where(webhook.ClientID(clientID), webhook.DisabledReasonNEQ(deleted))
}

// DeleteOfGrant marks the webhooks that a client created in the name of a user as deleted,
// in the transaction that revokes the grant.
func DeleteOfGrant(ctx context.Context, tx *ent.Tx, clientID string, userID uid.ID) error {
	return markedDeleted(tx.Webhook.Update().Where(webhook.ClientID(clientID), webhook.UserID(userID))).Exec(ctx)
}

func markedDeleted(u *ent.WebhookUpdate) *ent.WebhookUpdate {
	return u.SetDisabledReason(deleted).SetURL("").SetSecret("").SetFormerSecret("").SetIsClaimed(false).ClearNextAt().AddEpoch(1)
}

// DeleteWebhook marks a webhook as deleted. Its row is removed later, after its
// deliveries.
func (s *Service) DeleteWebhook(ctx context.Context, req *moderatov1.DeleteWebhookRequest) (*moderatov1.DeleteWebhookResponse, error) {
	id, err := named(req.GetWebhookId())
	if err != nil {
		return nil, err
	}
	found := false
	err = s.changeIf(ctx, id, mayDelete, func(ctx context.Context, tx *ent.Tx, w *ent.Webhook, _ instant.Instant) error {
		found = true
		return markedDeleted(tx.Webhook.Update().Where(webhook.ID(w.ID))).Exec(ctx)
	})
	// If an earlier attempt found the webhook and this one does not, the earlier
	// attempt deleted it: the outcome of its COMMIT was unknown.
	if err != nil && (!found || !errors.Is(err, apierr.New(moderatov1.Reason_REASON_WEBHOOK_NOT_FOUND))) {
		return nil, err
	}
	return &moderatov1.DeleteWebhookResponse{}, nil
}

// RotateWebhookSecret replaces the secret of a webhook.
func (s *Service) RotateWebhookSecret(ctx context.Context, req *moderatov1.RotateWebhookSecretRequest) (*moderatov1.RotateWebhookSecretResponse, error) {
	id, err := named(req.GetWebhookId())
	if err != nil {
		return nil, err
	}
	result := &moderatov1.RotateWebhookSecretResponse{Id: id.String(), Secret: newSecret()}
	idempotency.Result(ctx, &result)
	err = s.change(ctx, id, func(ctx context.Context, tx *ent.Tx, w *ent.Webhook, now instant.Instant) error {
		until := now.Add(rotationTime)
		if w.Secret == result.GetSecret() { // an earlier attempt committed
			result.FormerSecretExpiresAt = optionalTime(w.FormerUntil)
			return store.ErrCommitted
		}
		result.FormerSecretExpiresAt = until.Proto()
		return tx.Webhook.UpdateOne(w).SetSecret(result.GetSecret()).SetFormerSecret(w.Secret).SetFormerUntil(until).Exec(ctx)
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// EnableWebhook enables a disabled webhook.
func (s *Service) EnableWebhook(ctx context.Context, req *moderatov1.EnableWebhookRequest) (*moderatov1.EnableWebhookResponse, error) {
	id, err := named(req.GetWebhookId())
	if err != nil {
		return nil, err
	}
	resumed := true // if it is enabled, unless an earlier attempt enabled it and set resumed
	respond := idempotency.Response(ctx, func() *moderatov1.EnableWebhookResponse { return &moderatov1.EnableWebhookResponse{Resumed: resumed} })
	err = s.change(ctx, id, func(ctx context.Context, tx *ent.Tx, w *ent.Webhook, now instant.Instant) error {
		if w.DisabledReason == enabled {
			return nil
		}
		var err error
		resumed, err = enable(ctx, s.Store, tx, w, now)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.Engine.Look()
	return respond(), nil
}

func enable(ctx context.Context, s *store.Store, tx *ent.Tx, w *ent.Webhook, now instant.Instant) (resumed bool, err error) {
	update := tx.Webhook.UpdateOne(w).SetDisabledReason(enabled).SetNextAt(now).SetIsClaimed(false).ClearPausedUntil().AddEpoch(1)
	if w.DisabledReason == rightLost && w.ChannelID != nil {
		if err := exclude(ctx, s, tx, *w.ChannelID, update); err != nil {
			return false, err
		}
	}
	var right bool
	if err := store.QueryRow(ctx, tx, "SELECT "+hasRight(s.Clock)+" FROM webhooks w WHERE w.id = ?", []any{w.ID}, &right); err != nil {
		return false, err
	}
	if !right {
		return false, hearing.MissingRelation(w.Holder == ofApp)
	}
	at, err := outbox.ReadPositions(ctx, tx)
	if err != nil {
		return false, err
	}
	// A user who had no right for some time does not receive the events of that time.
	resumed = w.DisabledReason != rightLost && w.Position >= at.Trimmed
	if resumed {
		err = unfinished(tx, w).SetStatus(pending).SetTries(0).ClearFirstAttemptAt().SetNextAttemptAt(now).Exec(ctx)
	} else {
		update.SetPosition(at.Last)
		err = giveUp(ctx, tx, w, now)
	}
	if err != nil {
		return false, err
	}
	return resumed, update.Exec(ctx)
}

// exclude excludes the events of a channel up to now from a webhook that starts at the last
// position. It locks the channel, so that these are the events of the changes that are
// committed: their results are visible to whoever enabled the webhook, and those of later
// changes are sent.
//
// Usually all of them have positions. If not, the time excludes the rest. It is read after the
// lock, so that no later change has an earlier time, unless the clock is set back.
func exclude(ctx context.Context, s *store.Store, tx *ent.Tx, channelID uid.ID, update *ent.WebhookUpdateOne) error {
	if _, err := change.Lock(ctx, s, tx, channelID); err != nil {
		return err
	}
	// The events of a channel get their positions in order.
	last, err := tx.Event.Query().Where(event.ChannelID(channelID)).Order(ent.Desc(event.FieldSequence)).Select(event.FieldPosition).First(ctx)
	switch {
	case ent.IsNotFound(err), err == nil && last.Position != nil:
		update.ClearHeardFrom()
		return nil
	case err != nil:
		return err
	}
	now, err := s.Clock.Now(ctx, tx)
	update.SetHeardFrom(now)
	return err
}

// unfinished returns an update of the webhook's deliveries that are to be sent,
// possibly only after the webhook is enabled.
func unfinished(tx *ent.Tx, w *ent.Webhook) *ent.WebhookDeliveryUpdate {
	return tx.WebhookDelivery.Update().Where(webhookdelivery.WebhookID(w.ID), webhookdelivery.FinishedAtIsNil())
}

// giveUp ends the deliveries that are not to be sent any more. Those that were
// delivered before keep the status delivered.
func giveUp(ctx context.Context, tx *ent.Tx, w *ent.Webhook, now instant.Instant) error {
	const why = "the webhook was disabled"
	err := unfinished(tx, w).Where(webhookdelivery.DeliveredAtNotNil()).SetStatus(delivered).SetFinishedAt(now).SetLastError(why).Exec(ctx)
	if err != nil {
		return err
	}
	return unfinished(tx, w).SetStatus(failed).SetFinishedAt(now).SetLastError(why).Exec(ctx)
}
