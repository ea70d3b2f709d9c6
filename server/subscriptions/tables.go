package subscriptions

import (
	"context"

	"github.com/moderato-live/moderato/server/domain"
	"github.com/moderato-live/moderato/server/jobs"
)

// Tables describes the tables of sessions and subscriptions.
var Tables = []domain.Table{
	{
		Name: "event_sessions", Impersonal: []string{"server_id", "client_id"},
		Users: []domain.UserColumn{{Name: "user_id", Erase: domain.RemoveRow}},
		Expire: &jobs.Job{
			Name: "remove ended event sessions", Interval: ConfirmInterval,
			Run: func(ctx context.Context, env jobs.Env) error { return clean(ctx, env.Store) },
		},
	},
	{
		Name: "event_subscriptions", Channel: "channel_id", Impersonal: []string{"session_id", "type", "token_id"},
		Users: []domain.UserColumn{
			{Name: "condition_user_id", Erase: domain.RemoveRow}, {Name: "acting_user_id", Erase: domain.RemoveRow},
		},
	},
}
