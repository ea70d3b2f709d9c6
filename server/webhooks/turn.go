package webhooks

import (
	"context"
	"fmt"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/webhook"
	"github.com/moderato-live/moderato/ent/webhookdelivery"
	"github.com/moderato-live/moderato/server/events"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

const (
	// maxPending is how many events of a webhook wait as rows. Beyond that its
	// position stays where it is.
	maxPending = 500
	// scanned is how many positions a turn looks at for a webhook of every channel.
	scanned = 50_000
)

// The states of a delivery.
const (
	pending   = "pending"
	delivered = "delivered"
	failed    = "failed"
)

// turn is one transaction of a worker: it renews the claim, notes how attempts
// ended, takes new events in and finds what is to be sent next. Nothing is sent
// that is not a row before, and no position moves without its rows: so whatever
// dies where, nothing is lost.
type turn struct {
	*worker

	tx      *ent.Tx
	now     instant.Instant
	hook    *ent.Webhook
	change  *ent.WebhookUpdateOne
	reason  string // why it is to be disabled
	stops   bool   // the server stops: nothing new is begun
	results []outcome
	plan    plan
}

// turn makes a turn. What it does when it runs again is the same: what it notes
// is absolute.
func (w *worker) turn(ctx context.Context, results []outcome, stops bool) (plan, error) {
	var t *turn
	epoch := w.epoch
	err := w.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		t = &turn{worker: w, tx: tx, results: results, stops: stops}
		var err error
		if t.now, err = w.Store.Clock.Now(ctx, tx); err != nil {
			return err
		}
		if epoch, err = t.hold(ctx); err != nil || epoch == 0 {
			t.plan.over = true
			return err
		}
		return t.work(ctx)
	})
	if err != nil {
		return plan{}, fmt.Errorf("webhook %s: %w", w.id, err)
	}
	w.epoch = epoch
	if t.hook != nil {
		w.position, w.isBlocked = t.hook.Position, t.hook.NextAt != nil && t.hook.IsBlocked
	}
	t.tell(ctx)
	return t.plan, nil
}

// hold takes or renews the claim, with the row locked; 0: it is another's.
func (t *turn) hold(ctx context.Context) (epoch int64, err error) {
	until := t.now.Add(claimTime)
	update := t.tx.Webhook.Update().Where(webhook.ID(t.id), webhook.DisabledReason(enabled)).SetNextAt(until).SetIsClaimed(true)
	if t.epoch == 0 {
		update = update.Where(webhook.Or(webhook.NextAtIsNil(), webhook.IsClaimed(false), webhook.NextAtLTE(t.now))).AddEpoch(1)
	} else {
		update = update.Where(webhook.Epoch(t.epoch))
	}
	n, err := update.Save(ctx)
	if err != nil || n == 0 {
		return 0, err
	}
	if t.hook, err = t.tx.Webhook.Get(ctx, t.id); err != nil {
		return 0, err
	}
	return t.hook.Epoch, nil
}

func (t *turn) work(ctx context.Context) error {
	t.change = t.hook.Update()
	if err := t.record(ctx); err != nil {
		return err
	}
	if t.reason == "" && !t.stops {
		if err := t.takeIn(ctx); err != nil {
			return err
		}
	}
	// After that, so that the position is not past an event that ended the right.
	if t.reason == "" {
		if err := t.checkRight(ctx); err != nil {
			return err
		}
	}
	if t.reason != "" {
		return t.disable(ctx)
	}
	next, isBlocked, err := t.choose(ctx)
	if err != nil {
		return err
	}
	if t.reason != "" { // what is to be sent is no longer there
		return t.disable(ctx)
	}
	if t.stops || (len(t.plan.send) == 0 && len(t.inFlight) == 0 && !t.plan.again) {
		t.release(next, isBlocked)
	}
	t.hook, err = t.change.Save(ctx)
	t.plan.hook, t.plan.now = t.hook, t.now
	return err
}

// release lets go of the webhook until there is something to send.
func (t *turn) release(next *instant.Instant, isBlocked bool) {
	t.plan.over = true
	t.change.SetIsClaimed(false).SetIsBlocked(isBlocked).AddEpoch(1)
	switch {
	case t.stops:
		t.change.SetNextAt(t.now)
	case next != nil:
		t.change.SetNextAt(*next)
	default:
		t.change.ClearNextAt()
	}
}

// disable ends the work on the webhook until somebody enables it. What is pending
// stays, for that time.
func (t *turn) disable(ctx context.Context) error {
	t.plan = plan{over: true}
	var err error
	t.hook, err = t.change.SetDisabledReason(t.reason).SetIsClaimed(false).ClearNextAt().AddEpoch(1).Save(ctx)
	return err
}

// checkRight looks whether the user of the webhook may still hear of the channel.
func (t *turn) checkRight(ctx context.Context) error {
	var right bool
	err := store.QueryRow(ctx, t.tx, "SELECT "+hasRight+" FROM webhooks w WHERE w.id = ?", []any{t.id}, &right)
	if err == nil && !right {
		t.reason = rightLost
	}
	return err
}

// takeIn makes rows of the events that the webhook is to be sent, and moves its
// position.
func (t *turn) takeIn(ctx context.Context) error {
	last, trimmed, err := events.Positions(ctx, t.tx)
	if err != nil {
		return err
	}
	if t.hook.Position < trimmed {
		t.reason = behind
		return nil
	}
	waiting, err := t.tx.WebhookDelivery.Query().Where(webhookdelivery.WebhookID(t.id), webhookdelivery.Status(pending)).Count(ctx)
	if err != nil || waiting >= maxPending || t.hook.Position >= last {
		return err
	}
	upTo := last
	if t.hook.ChannelID == nil {
		upTo = min(last, t.hook.Position+scanned)
	}
	rows, err := t.newDeliveries(ctx, upTo, maxPending-waiting)
	if err != nil {
		return err
	}
	if len(rows) == maxPending-waiting {
		position, _ := rows[len(rows)-1].Mutation().Position()
		upTo = position
	} else {
		t.plan.again = upTo < last
	}
	for start := 0; start < len(rows); start += rowsAtOnce {
		if err := t.tx.WebhookDelivery.CreateBulk(rows[start:min(start+rowsAtOnce, len(rows))]...).Exec(ctx); err != nil {
			return err
		}
	}
	t.change.SetPosition(upTo)
	return nil
}

// rowsAtOnce bounds the parameters of a statement.
const rowsAtOnce = 50

func (t *turn) newDeliveries(ctx context.Context, upTo int64, limit int) ([]*ent.WebhookDeliveryCreate, error) {
	query, args := t.wantedEvents(upTo, limit)
	var rows []*ent.WebhookDeliveryCreate
	err := store.QueryEach(ctx, t.tx, query, args, func(scan func(...any) error) error {
		var eventID, channelID uid.ID
		var position int64
		var kind string
		if err := scan(&eventID, &channelID, &position, &kind); err != nil {
			return err
		}
		rows = append(rows, t.tx.WebhookDelivery.Create().SetID(uid.New()).SetWebhookID(t.id).SetChannelID(channelID).
			SetEventID(eventID).SetPosition(position).SetType(kind).SetStatus(pending).SetNextAttemptAt(t.now))
		return nil
	})
	return rows, err
}
