package webhooks

import (
	"context"
	"fmt"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/webhook"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// maxPending is the maximum number of pending deliveries of a webhook, without
	// redeliveries. Once it is reached, the position of the webhook does not advance.
	maxPending = 500
	// maxRepeats is the maximum number of pending redeliveries of a webhook.
	maxRepeats = 100
	// scanned is how many positions a turn examines for a webhook of every channel.
	scanned = 50_000
)

// The states of a delivery.
const (
	pending   = "pending"
	delivered = "delivered"
	failed    = "failed"
)

// turn is one transaction of a worker. It renews the claim, records the outcomes of
// attempts, inserts deliveries for new events and plans what is sent next. An event is
// sent only after its delivery is committed, and the position advances in the same
// transaction as the deliveries are inserted. A crash at any point therefore loses
// nothing.
type turn struct {
	*worker

	tx      *ent.Tx
	now     instant.Instant
	hook    *ent.Webhook
	change  *ent.WebhookUpdateOne
	reason  string // why the webhook is disabled; empty if it is not
	stops   bool   // true while the server stops; no new attempts begin
	results []outcome
	plan    plan
}

// turn runs one turn. Its transaction may run more than once with the same effect,
// because the results that it records are absolute values.
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
	t.report(ctx)
	return t.plan, nil
}

// hold takes or renews the claim, which also locks the row. It returns an epoch of 0 if
// another server holds the claim or the webhook is not enabled.
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
	// The right is checked after takeIn, so that the position is not past an event that
	// ended the right.
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
	if t.reason != "" { // an event to be sent no longer exists
		return t.disable(ctx)
	}
	if t.stops || (len(t.plan.send) == 0 && len(t.inFlight) == 0 && !t.plan.again) {
		t.release(next, isBlocked)
	}
	t.hook, err = t.change.Save(ctx)
	t.plan.hook, t.plan.now = t.hook, t.now
	return err
}

// release releases the claim until there is something to send.
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

// disable disables the webhook. Its pending deliveries are kept until somebody enables
// it.
func (t *turn) disable(ctx context.Context) error {
	t.plan = plan{over: true}
	var err error
	t.hook, err = t.change.SetDisabledReason(t.reason).SetIsClaimed(false).ClearNextAt().AddEpoch(1).Save(ctx)
	return err
}

// checkRight checks whether the webhook may still receive the events of its channel.
func (t *turn) checkRight(ctx context.Context) error {
	var right bool
	err := store.QueryRow(ctx, t.tx, "SELECT "+hasRight(t.Store.Clock)+" FROM webhooks w WHERE w.id = ?", []any{t.id}, &right)
	if err == nil && !right {
		t.reason = rightLost
	}
	return err
}

// takeIn inserts deliveries for the events that the webhook wants, and advances its
// position.
func (t *turn) takeIn(ctx context.Context) error {
	at, err := outbox.ReadPositions(ctx, t.tx)
	if err != nil {
		return err
	}
	if t.hook.Position < at.Trimmed {
		t.reason = behind
		return nil
	}
	waiting, err := pendingOf(t.tx, t.id, false).Count(ctx)
	if err != nil || waiting >= maxPending || t.hook.Position >= at.Last {
		return err
	}
	upTo := at.Last
	if t.hook.ChannelID == nil {
		upTo = min(at.Last, t.hook.Position+scanned)
	}
	rows, err := t.newDeliveries(ctx, upTo, maxPending-waiting)
	if err != nil {
		return err
	}
	if len(rows) == maxPending-waiting {
		position, _ := rows[len(rows)-1].Mutation().Position()
		upTo = position
	} else {
		t.plan.again = upTo < at.Last
	}
	for start := 0; start < len(rows); start += rowsPerStatement {
		if err := t.tx.WebhookDelivery.CreateBulk(rows[start:min(start+rowsPerStatement, len(rows))]...).Exec(ctx); err != nil {
			return err
		}
	}
	t.change.SetPosition(upTo)
	return nil
}

// rowsPerStatement is how many deliveries one statement inserts. It bounds the number of
// parameters of the statement.
const rowsPerStatement = 50

func (t *turn) newDeliveries(ctx context.Context, upTo int64, limit int) ([]*ent.WebhookDeliveryCreate, error) {
	if isLiveOnly(t.hook.Types) {
		return nil, nil
	}
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
