package tickets

import (
	"context"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/domain"
	"github.com/moderato-live/moderato/server/jobs"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// cleanInterval is how often expired tickets are removed.
	cleanInterval = 10 * time.Second
	cleanBatch    = 500
)

// Tables describes the table of tickets.
var Tables = []domain.Table{{
	Name: "event_tickets", Impersonal: []string{"token_id", "redeemed_by"},
	Users: []domain.UserColumn{{Name: "user_id", Erase: domain.RemoveRow}},
	Expire: &jobs.Job{
		Name: "remove expired event tickets", Interval: cleanInterval,
		Run: func(ctx context.Context, env jobs.Env) error { return Clean(ctx, env.Store) },
	},
}}

// Clean removes the expired tickets, in small transactions.
func Clean(ctx context.Context, s *store.Store) error {
	for {
		removed := 0
		err := s.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			now, err := s.Clock.Now(ctx, tx)
			if err != nil {
				return err
			}
			removed, err = domain.Exec(ctx, tx, "DELETE FROM event_tickets"+s.Some("event_tickets", "expires_at < ?", cleanBatch), now)
			return err
		})
		if err != nil || removed < cleanBatch {
			return err
		}
	}
}
