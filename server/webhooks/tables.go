package webhooks

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/domain"
	"github.com/moderato-live/moderato/server/jobs"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

// Tables describes the tables of webhooks.
var Tables = []domain.Table{
	{
		// Deleted webhooks are removed after their deliveries, when no server adds
		// deliveries any more.
		Name: "webhooks", Impersonal: []string{"client_id", "types", "disabled_reason", "audience", "holder"},
		Users: []domain.UserColumn{
			{Name: "user_id", Erase: domain.WithRow}, {Name: "url", Erase: domain.WithRow}, {Name: "secret", Erase: domain.WithRow},
			{Name: "former_secret", Erase: domain.WithRow}, {Name: "last_error", Erase: domain.WithRow},
		},
		Export: domain.Export{Secrets: []string{"secret", "former_secret"}},
		Erase:  domain.Erasure{Channel: []domain.Step{markDeleted("channel_id")}, User: []domain.Step{markDeleted("user_id")}},
		Expire: func(env domain.Env) jobs.Job {
			return jobs.Job{Name: "disable webhooks whose user lost the right", Interval: sweepInterval, Run: jobs.All(env.Webhooks.Sweep)}
		},
	},
	{
		Name: "webhook_deliveries", Channel: "channel_id",
		Impersonal: []string{"webhook_id", "event_id", "type", "status", "last_error"},
		References: []domain.Reference{{Column: "webhook_id", Table: "webhooks"}, {Column: "channel_id", Table: "channels"}},
		Expire:     func(env domain.Env) jobs.Job { return (&Purger{Store: env.Store}).Job() },
	},
}

// markDeleted returns a step that marks webhooks as deleted, as their deletion by a
// caller does.
func markDeleted(column string) domain.Step {
	return domain.Step{Name: "webhooks by " + column, Do: func(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID) (int, error) {
		return domain.Exec(ctx, tx, `UPDATE webhooks SET disabled_reason = 'deleted', channel_id = NULL, user_id = NULL, url = '', secret = '',
			former_secret = '', next_at = NULL, is_claimed = FALSE, epoch = epoch + 1`+s.Some("webhooks", column+" = ?", domain.EraseBatch), id)
	}}
}
