package oauth

import (
	"context"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/domain"
	"github.com/moderato-live/moderato/server/jobs"
	"github.com/moderato-live/moderato/server/store"
)

// Tables describes the tables of sign-ins.
var Tables = []domain.Table{
	{
		Name: "authorizations",
		Impersonal: []string{
			"secret", "client_id", "status", "scopes", "issuer", "redirect_uri", "state", "code_challenge", "code", "granted", "family_id",
		},
		Users:  []domain.UserColumn{{Name: "user_id", Erase: domain.RemoveRow}},
		Expire: remove("sign-in requests", "authorizations", "kept_until"),
	},
	{
		Name: "refresh_tokens", Impersonal: []string{"family_id", "client_id", "scopes"},
		Users:  []domain.UserColumn{{Name: "user_id", Erase: domain.RemoveRow}},
		Expire: remove("refresh tokens", "refresh_tokens", "expires_at"),
	},
}

const (
	removeInterval = time.Minute
	removeBatch    = 500
	// removePause is the pause between two batches, so that other work can use the
	// database.
	removePause = 50 * time.Millisecond
)

// remove returns the job that removes the rows whose time in a column has come.
func remove(what, table, column string) *jobs.Job {
	return &jobs.Job{
		Name: "remove expired " + what, Interval: removeInterval,
		Backlog: jobs.CountDue(table, column, "TRUE"),
		Run: func(ctx context.Context, env jobs.Env) error {
			for {
				n, err := removeSome(ctx, env.Store, table, column)
				if err != nil || n < removeBatch {
					return err
				}
				select {
				case <-ctx.Done():
					return nil
				case <-time.After(removePause):
				}
			}
		},
	}
}

func removeSome(ctx context.Context, s *store.Store, table, column string) (removed int, err error) {
	err = s.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		now, err := s.Clock.Now(ctx, tx)
		if err != nil {
			return err
		}
		removed, err = domain.Exec(ctx, tx, "DELETE FROM "+table+s.Some(table, column+" <= ?", removeBatch), now)
		return err
	})
	return removed, err
}
