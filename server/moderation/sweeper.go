package moderation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/mute"
	"github.com/moderato-live/moderato/server/events"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// SweepInterval is how often to sweep: a lapse is told within a second.
	SweepInterval = 500 * time.Millisecond
	sweepBatch    = 100
)

// Sweeper announces mutes that have lapsed and removes their rows, each in one
// transaction with its event, so that every lapse is announced once whoever
// sweeps and whatever crashes. Whether a mute is active never depends on it.
type Sweeper struct {
	Store *store.Store
}

// Sweep handles every mute that has lapsed by now. One that fails keeps no other
// waiting.
func (w *Sweeper) Sweep(ctx context.Context) error {
	for {
		now, err := w.Store.Clock.Now(ctx, w.Store.Read)
		if err != nil {
			return err
		}
		lapsed, err := w.Store.Read.Mute.Query().Where(mute.ExpiresAtLTE(now)).
			Order(ent.Asc(mute.FieldExpiresAt)).Limit(sweepBatch).
			All(ctx)
		if err != nil {
			return fmt.Errorf("find lapsed mutes: %w", err)
		}
		var failed error
		for _, row := range lapsed {
			failed = errors.Join(failed, w.expire(ctx, row))
		}
		if failed != nil || len(lapsed) < sweepBatch {
			return failed
		}
	}
}

func (w *Sweeper) expire(ctx context.Context, found *ent.Mute) error {
	return events.ApplyUnattended(ctx, w.Store, found.ChannelID, func(ctx context.Context, c *events.Change) error {
		row, err := findMute(ctx, c.Tx, found.ChannelID, found.UserID)
		if ent.IsNotFound(err) || (err == nil && c.Now < row.ExpiresAt) {
			return nil // another server was first
		}
		if err != nil {
			return err
		}
		return expireMute(ctx, c, row)
	})
}
