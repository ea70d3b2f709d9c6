package webhooks

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/webhookdelivery"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/tracing"
)

// record records the outcomes of attempts.
func (t *turn) record(ctx context.Context) error {
	for _, o := range t.results {
		d := o.delivery
		t.change.SetIsSlow(o.isSlow)
		if o.isPostponed {
			continue
		}
		row := t.tx.WebhookDelivery.Update().Where(webhookdelivery.ID(d.ID)).
			SetAttempts(d.Attempts + 1).SetTries(d.Tries + 1).SetLastError(o.problem).ClearLastStatus()
		if o.status != 0 {
			row.SetLastStatus(int32(o.status))
		}
		if d.FirstAttemptAt == nil {
			row.SetFirstAttemptAt(t.now)
		}
		if o.problem == "" {
			row.SetStatus(delivered).SetDeliveredAt(t.now).SetFinishedAt(t.now)
			t.change.SetLastSuccessAt(t.now).SetLastError("")
		} else {
			t.recordFailure(row, o)
			t.change.SetLastError(o.problem)
		}
		if err := row.Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// recordFailure schedules the delivery for a retry, or gives it up. If a delivery that
// is not a repeat is given up, the webhook is disabled too: what was not delivered
// waits until somebody enables it.
func (t *turn) recordFailure(row *ent.WebhookDeliveryUpdate, o outcome) {
	d := o.delivery
	isGone := o.status == http.StatusGone
	isGivenUp := d.FirstAttemptAt != nil && t.now.Sub(*d.FirstAttemptAt) >= giveUpAfter
	switch {
	case isGone:
		t.reason = gone
	case isGivenUp && !d.IsRepeat:
		t.reason = failing
	}
	if o.wait > 0 {
		t.pause(t.now.Add(o.wait))
	}
	if !isGone && !isGivenUp {
		row.SetNextAttemptAt(t.now.Add(delay(d.Tries+1, o.wait)))
		return
	}
	row.SetStatus(givenUp(d))
	if d.IsRepeat && !isGone { // after a 410, the delivery is sent again when the webhook is enabled
		row.SetFinishedAt(t.now)
	}
}

// givenUp returns the status of a delivery that is not retried any more. A failed
// repeat of an event that was delivered before stays delivered.
func givenUp(d *ent.WebhookDelivery) string {
	if d.DeliveredAt != nil {
		return delivered
	}
	return failed
}

// pause delays all deliveries to the receiver until an instant, whatever their channel.
func (t *turn) pause(until instant.Instant) {
	if t.hook.PausedUntil == nil || *t.hook.PausedUntil < until {
		t.hook.PausedUntil = &until
		t.change.SetPausedUntil(until)
	}
}

// report counts and logs what the turn recorded.
func (t *turn) report(ctx context.Context) {
	for _, o := range t.results {
		if o.isPostponed {
			t.metrics.attempts.WithLabelValues("postponed").Inc()
			continue
		}
		result, level := "delivered", slog.LevelDebug
		if o.problem != "" {
			result, level = "failed", slog.LevelInfo
		} else if !o.delivery.IsRepeat {
			tracing.Observe(t.Store.Tracer().Continue(ctx, o.event.Traceparent), t.metrics.delay, t.now.Sub(o.event.OccurredAt).Seconds())
		}
		t.metrics.attempts.WithLabelValues(result).Inc()
		address := ""
		if t.hook != nil {
			address = host(t.hook.URL)
		}
		t.Log.Log(ctx, level, "webhook delivery", "outcome", result, "webhook_id", t.id.String(), "host", address,
			"event_id", o.delivery.EventID.String(), "attempt", o.delivery.Attempts+1, "status", o.status, "error", o.problem)
	}
	if t.reason != "" {
		t.reportDisabled(ctx, t.hook, t.reason)
	}
}

// reportDisabled counts and logs that a webhook was disabled.
func (e *Engine) reportDisabled(ctx context.Context, w *ent.Webhook, reason string) {
	e.metrics.disabled.WithLabelValues(reason).Inc()
	e.Log.InfoContext(ctx, "webhook disabled", "webhook_id", w.ID.String(), "host", host(w.URL), "reason", reason)
}
