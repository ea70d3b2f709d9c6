package sessions

import (
	"context"

	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// Tables describes the tables of sessions and subscriptions.
var Tables = []tables.Table{
	{
		Name: "event_sessions", Impersonal: []string{"server_id", "client_id"},
		Users: []tables.UserColumn{{Name: "user_id", Erase: tables.RemoveRow}},
		Expire: func(env tables.Env) jobs.Job {
			return jobs.Job{
				Name: "remove ended event sessions", Interval: ConfirmInterval,
				Run: func(ctx context.Context) (bool, error) { return clean(ctx, env.Store) },
				Backlog: func(ctx context.Context) (int64, error) {
					now, err := env.Store.Clock.Now(ctx, env.Store.Read)
					if err != nil {
						return 0, err
					}
					return jobs.Count(ctx, env.Store, "SELECT 1 FROM event_sessions WHERE seen_at < ?", now.Add(-2*Lifetime))
				},
			}
		},
	},
	{
		Name: "event_subscriptions", Channel: "channel_id", Impersonal: []string{"session_id", "type", "token_id"},
		Users: []tables.UserColumn{
			{Name: "condition_user_id", Erase: tables.RemoveRow}, {Name: "acting_user_id", Erase: tables.RemoveRow},
		},
	},
}
