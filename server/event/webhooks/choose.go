package webhooks

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/channel"
	"github.com/moderato-live/moderato/ent/webhookdelivery"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
)

// wantedEvents returns the query for the events after the webhook's position, in the
// order of their positions. The events of one channel are read along an index of the
// channel, so that no other rows are read. The events of every channel are read along
// the positions.
//
// Only events that are kept have rows. The liveSender sends those that are not.
func (t *turn) wantedEvents(upTo int64, limit int) (query string, args []any) {
	types := keptTypes(t.hook.Types)
	if t.hook.ChannelID == nil {
		query = "SELECT id, channel_id, position, type FROM events" + t.Store.ByIndex("event_position_occurred_at_channel_id_sequence") +
			" WHERE position > ? AND position <= ? AND occurred_at >= ?"
		args = []any{t.hook.Position, upTo, t.heardFrom()}
		if len(types) > 0 {
			query += " AND type IN (" + store.Placeholders(len(types)) + ")"
			for _, kind := range types {
				args = append(args, kind)
			}
		}
		return query + " ORDER BY position" + store.Limit(limit), args
	}
	if len(types) == 0 {
		types = eventtype.Types()
	}
	parts := make([]string, len(types))
	for i, kind := range types {
		parts[i] = "SELECT * FROM (SELECT id, channel_id, position, type FROM events" + t.Store.ByIndex("event_channel_id_type_position") +
			" WHERE channel_id = ? AND type = ? AND position > ? AND position <= ? AND occurred_at >= ? ORDER BY position" + store.Limit(limit) +
			") p" + strconv.Itoa(i)
		args = append(args, *t.hook.ChannelID, kind, t.hook.Position, upTo, t.heardFrom())
	}
	return strings.Join(parts, " UNION ALL ") + " ORDER BY position" + store.Limit(limit), args
}

// keptTypes returns those of a webhook's types of which events are kept; none means all.
func keptTypes(types string) []string {
	return slices.DeleteFunc(strings.Fields(types), func(name string) bool { return eventtype.Type(name).IsLive() })
}

// isLiveOnly reports whether a webhook's types are live ones alone.
func isLiveOnly(types string) bool { return types != "" && len(keptTypes(types)) == 0 }

// heardFrom returns the time from which on the webhook receives events, after a time without
// the right. It returns 0 if its position alone decides: see exclude.
func (t *turn) heardFrom() instant.Instant {
	if t.hook.HeardFrom == nil {
		return 0
	}
	return *t.hook.HeardFrom
}

// choose plans the deliveries that are due. It returns the time at which the next
// delivery is due, and whether new events have to wait until then.
//
// Redeliveries are chosen last and are few at once, because no other event waits for them.
func (t *turn) choose(ctx context.Context) (next *instant.Instant, isBlocked bool, err error) {
	rows, err := pendingOf(t.tx, t.id, false).Order(ent.Asc(webhookdelivery.FieldPosition)).Limit(2 * maxPending).All(ctx)
	if err != nil {
		return nil, false, err
	}
	isBlocked = len(rows) >= maxPending || t.isPaused()
	repeats, err := pendingOf(t.tx, t.id, true).Order(ent.Asc(webhookdelivery.FieldNextAttemptAt)).Limit(maxRepeats).All(ctx)
	if err != nil {
		return nil, false, err
	}
	room := maxRepeatsInFlight - t.repeatsInFlight
	var due []*ent.WebhookDelivery
	for _, d := range t.firstOfLanes(slices.Concat(rows, repeats)) {
		at := t.dueAt(d)
		switch {
		case at <= t.now && !d.IsRepeat:
			due = append(due, d)
		case at <= t.now:
			if room > 0 { // otherwise the next turn chooses it, after an attempt
				due = append(due, d)
				room--
			}
		default:
			if next == nil || at < *next {
				next = &at
			}
			isBlocked = isBlocked || (t.hook.ChannelID != nil && !d.IsRepeat)
		}
	}
	if t.stops {
		return next, isBlocked, nil
	}
	return next, isBlocked, t.load(ctx, due[:t.room(len(due))])
}

// pendingOf returns the query for the pending redeliveries of a webhook, or for its other
// pending deliveries.
func pendingOf(tx *ent.Tx, id uid.ID, isRepeat bool) *ent.WebhookDeliveryQuery {
	return tx.WebhookDelivery.Query().
		Where(webhookdelivery.WebhookID(id), webhookdelivery.Status(pending), webhookdelivery.IsRepeat(isRepeat))
}

// room returns how many of n attempts may begin.
func (w *worker) room(n int) int {
	if len(w.inFlight) > 0 && w.yields() {
		return 0
	}
	n = min(n, maxInFlight-len(w.inFlight))
	return min(n, w.slot.resize(len(w.inFlight)+n)-len(w.inFlight))
}

// isPaused reports whether the receiver asked for a pause that is not over.
func (t *turn) isPaused() bool { return t.hook.PausedUntil != nil && t.now < *t.hook.PausedUntil }

// dueAt returns the time at which a delivery is due.
func (t *turn) dueAt(d *ent.WebhookDelivery) instant.Instant {
	if t.isPaused() {
		return max(d.NextAttemptAt, *t.hook.PausedUntil)
	}
	return d.NextAttemptAt
}

// firstOfLanes returns the first pending delivery of each lane that has no attempt in
// flight.
func (t *turn) firstOfLanes(rows []*ent.WebhookDelivery) []*ent.WebhookDelivery {
	var first []*ent.WebhookDelivery
	seen := map[uid.ID]bool{}
	for _, d := range rows {
		l := lane(d)
		if !seen[l] && !t.inFlight[l] {
			first = append(first, d)
		}
		seen[l] = true
	}
	return first
}

// load reads the events of the deliveries that are due, and adds them to the plan.
func (t *turn) load(ctx context.Context, due []*ent.WebhookDelivery) error {
	ids := make([]uid.ID, len(due))
	for i, d := range due {
		ids[i] = d.EventID
	}
	found, err := outbox.ByID(ctx, t.Store, t.tx, ids)
	if err != nil {
		return err
	}
	for _, d := range due {
		if e := found[d.EventID]; e != nil {
			t.plan.send = append(t.plan.send, job{d, e})
			continue
		}
		t.plan.again = true
		if err := t.dropGone(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// dropGone ends a delivery whose event no longer exists. If the channel was deleted,
// the delivery is deleted. If retention removed the event, the loss must be visible:
// the webhook is disabled, unless the delivery is a repeat, and every pending delivery
// whose event is missing is ended.
func (t *turn) dropGone(ctx context.Context, d *ent.WebhookDelivery) error {
	exists, err := t.tx.Channel.Query().Where(channel.ID(d.ChannelID)).Exist(ctx)
	if err != nil {
		return err
	}
	if !exists {
		_, err = t.tx.WebhookDelivery.Delete().Where(webhookdelivery.ID(d.ID)).Exec(ctx)
		return err
	}
	if !d.IsRepeat {
		t.reason = behind
	}
	_, err = t.tx.ExecContext(ctx, `
		UPDATE webhook_deliveries SET status = CASE WHEN delivered_at IS NULL THEN 'failed' ELSE 'delivered' END,
			finished_at = ?, last_error = 'the event is no longer kept'
		WHERE webhook_id = ? AND status = ? AND NOT EXISTS (SELECT 1 FROM events e WHERE e.id = webhook_deliveries.event_id)`,
		t.now, t.id, pending)
	return err
}
