package webhooks

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// Tables describes the tables of webhooks.
var Tables = []tables.Table{
	{
		// Deleted webhooks are removed after their deliveries, when no server adds
		// deliveries any more.
		Name: "webhooks", Impersonal: []string{"client_id", "types", "disabled_reason", "audience", "holder"},
		Users: []tables.UserColumn{
			{Name: "user_id", Erase: tables.WithRow}, {Name: "url", Erase: tables.WithRow}, {Name: "secret", Erase: tables.WithRow},
			{Name: "former_secret", Erase: tables.WithRow}, {Name: "last_error", Erase: tables.WithRow},
		},
		Export: tables.Export{Secrets: []string{"secret", "former_secret"}},
		Erase:  tables.Erasure{Channel: []tables.Step{markDeleted("channel_id")}, User: []tables.Step{markDeleted("user_id")}},
		Expire: func(env tables.Env) jobs.Job {
			return jobs.Job{
				Name: "disable webhooks whose user lost the right", Interval: sweepInterval, Run: jobs.All(env.Webhooks.Sweep),
				Due: jobs.Rows("SELECT 1 FROM webhooks"), IsUncounted: true,
			}
		},
	},
	{
		Name: "webhook_deliveries", Channel: "channel_id",
		Impersonal: []string{"webhook_id", "event_id", "type", "status", "last_error"},
		References: []tables.Reference{{Column: "webhook_id", Table: "webhooks"}, {Column: "channel_id", Table: "channels"}},
		Expire:     func(env tables.Env) jobs.Job { return (&Purger{Store: env.Store}).Job() },
	},
}

// markDeleted returns a step that marks webhooks as deleted, as their deletion by a
// caller does.
func markDeleted(column string) tables.Step {
	return tables.Step{Name: "webhooks by " + column, Do: func(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID) (int, error) {
		return tables.Exec(ctx, tx, `UPDATE webhooks SET disabled_reason = 'deleted', channel_id = NULL, user_id = NULL, url = '', secret = '',
			former_secret = '', next_at = NULL, is_claimed = FALSE, epoch = epoch + 1`+s.Some("webhooks", column+" = ?", tables.EraseBatch), id)
	}}
}
