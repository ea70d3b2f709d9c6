package webhooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/webhook"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/hearing"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
)

// sweepInterval is how often a batch of webhooks is checked for users who lost their
// right. What is sent never depends on it.
const sweepInterval = time.Second

// hasRight is the SQL condition that the webhook w may receive the events of its channel
// that have its types. The channel must exist. A webhook that a backend made may receive
// the events of any channel. The user of a webhook must own or moderate the channel, and
// for types that everyone hears only exist. An app must exist, and needs the grant of the
// channel's owner for other types.
func hasRight(clock *store.Clock) string {
	return `(
	(w.channel_id IS NULL OR EXISTS (SELECT 1 FROM channels c WHERE c.id = w.channel_id))
	AND ((w.holder <> 'app' AND (w.user_id IS NULL OR w.user_id = w.channel_id
			OR (w.audience = 'public' AND EXISTS (SELECT 1 FROM users hu WHERE hu.id = w.user_id AND hu.` + users.Exists + `))
			OR ` + authz.Moderates(clock, "w.channel_id", "w.user_id") + `))
		OR (w.holder = 'app' AND EXISTS (SELECT 1 FROM clients hc WHERE hc.id = w.client_id)
			AND (w.audience = 'public' OR (w.audience = 'channel' AND ` + hearing.Granted("w.client_id", "w.channel_id") + `)))))`
}

// disableAfterEvents disables the webhooks whose user lost the right through one of the events:
// a ban or the removal of a moderator.
func (e *Engine) disableAfterEvents(ctx context.Context, page []*outbox.Event) error {
	var channels []any
	for _, event := range page {
		if event.Type.EndsRight() {
			channels = append(channels, event.ChannelID)
		}
	}
	if len(channels) == 0 {
		return nil
	}
	return e.disableUnauthorized(ctx, "w.channel_id IN ("+store.Placeholders(len(channels))+")", channels...)
}

// Sweep checks the next batch of webhooks, and disables those whose user has no right.
// Successive calls cover all webhooks. Sweep is needed because a right can also end
// without an event, and because a webhook that waits long for its next attempt may miss
// the event. The cost of a call does not depend on the number of webhooks.
func (e *Engine) Sweep(ctx context.Context) error {
	var ids []any
	err := store.QueryEach(ctx, e.Store.Read, "SELECT id FROM webhooks WHERE id > ? ORDER BY id LIMIT ?", []any{e.swept, idsPerStatement},
		func(scan func(...any) error) error {
			err := scan(&e.swept)
			ids = append(ids, e.swept)
			return err
		})
	if len(ids) < idsPerStatement {
		e.swept = uid.ID{}
	}
	if err != nil || len(ids) == 0 {
		return err
	}
	return e.disableUnauthorized(ctx, "w.id IN ("+store.Placeholders(len(ids))+")", ids...)
}

// disableUnauthorized disables the webhooks selected by a condition on webhooks w whose
// user has no right.
func (e *Engine) disableUnauthorized(ctx context.Context, where string, args ...any) error {
	var lost []uid.ID
	err := store.QueryEach(ctx, e.Store.Read, "SELECT w.id FROM webhooks w WHERE w.disabled_reason = '' AND NOT "+hasRight(e.Store.Clock)+" AND "+where, args,
		func(scan func(...any) error) error {
			var id uid.ID
			err := scan(&id)
			lost = append(lost, id)
			return err
		})
	if err != nil {
		return fmt.Errorf("find webhooks without a right: %w", err)
	}
	for _, id := range lost {
		if err := e.disableIfUnauthorized(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// disableIfUnauthorized disables a webhook if its user still has no right. A worker that holds its
// claim finds out at its next turn.
func (e *Engine) disableIfUnauthorized(ctx context.Context, id uid.ID) error {
	var lost *ent.Webhook
	err := e.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		lost = nil
		if err := lock(ctx, tx, id); err != nil {
			return err
		}
		var right bool
		err := store.QueryRow(ctx, tx, "SELECT "+hasRight(e.Store.Clock)+" FROM webhooks w WHERE w.id = ? AND w.disabled_reason = ''", []any{id}, &right)
		if errors.Is(err, store.ErrNoRows) || right {
			return nil // another server disabled it first, or the user has the right again
		}
		if err != nil {
			return err
		}
		lost, err = tx.Webhook.UpdateOneID(id).SetDisabledReason(rightLost).SetIsClaimed(false).ClearNextAt().AddEpoch(1).Save(ctx)
		return err
	})
	if err == nil && lost != nil {
		e.reportDisabled(ctx, lost, rightLost)
	}
	return err
}

// lock locks the row of a webhook, if it exists.
func lock(ctx context.Context, tx *ent.Tx, id uid.ID) error {
	_, err := tx.Webhook.Query().Where(webhook.ID(id), store.LockForUpdate).Exist(ctx)
	return err
}

// moveUp moves idle webhooks, which are those without next_at, to a position.
func (e *Engine) moveUp(ctx context.Context, ids []uid.ID, to int64) error {
	return e.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		return tx.Webhook.Update().
			Where(webhook.IDIn(ids...), webhook.NextAtIsNil(), webhook.DisabledReason(enabled), webhook.PositionLT(to)).
			SetPosition(to).
			Exec(ctx)
	})
}
