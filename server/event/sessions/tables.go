package sessions

import (
	"context"

	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/store"
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
				Due: ended(env.Store),
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

// ended selects the sessions of servers that crashed, and the subscriptions without a session.
func ended(s *store.Store) func() (string, []any) {
	return func() (string, []any) {
		sessions, args := jobs.Before(s, "event_sessions", "seen_at", 2*Lifetime)()
		return sessions + " UNION ALL SELECT 1 FROM event_subscriptions x WHERE NOT EXISTS (SELECT 1 FROM event_sessions s WHERE s.id = x.session_id)", args
	}
}
