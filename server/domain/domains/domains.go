// Package domains lists all domains: their tables, the jobs of their tables, and their
// services. A test compares the tables with those of the database.
package domains

import (
	"slices"

	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/domain/access"
	"github.com/moderato-live/moderato/server/domain/activity"
	"github.com/moderato-live/moderato/server/domain/audience"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/content"
	"github.com/moderato-live/moderato/server/domain/directory"
	"github.com/moderato-live/moderato/server/domain/erasure"
	"github.com/moderato-live/moderato/server/domain/held"
	"github.com/moderato-live/moderato/server/domain/livestream"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/server/domain/oauth"
	"github.com/moderato-live/moderato/server/domain/rules"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/event/sessions"
	"github.com/moderato-live/moderato/server/event/standings"
	"github.com/moderato-live/moderato/server/event/tickets"
	"github.com/moderato-live/moderato/server/event/webhooks"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// Tables returns the tables of all domains.
func Tables() []tables.Table {
	return slices.Concat(
		directory.Tables, access.Tables, chat.Tables, held.Tables, live.Tables, moderation.Tables, rules.Tables, standings.Tables, audience.Tables, content.Tables, activity.Tables,
		livestream.Tables, sessions.Tables, tickets.Tables, idempotency.Tables, webhooks.Tables, oauth.Tables, outbox.Tables, erasure.Tables, []tables.Table{cursorKeys, sinks},
	)
}

// Jobs returns the jobs of all tables. It sets env.Tables.
func Jobs(env tables.Env) []jobs.Job {
	env.Tables = Tables()
	var all []jobs.Job
	for _, table := range env.Tables {
		for _, job := range []func(tables.Env) jobs.Job{table.Expire, table.Remove} {
			if job != nil {
				all = append(all, job(env))
			}
		}
	}
	return all
}

// The tables that belong to no domain.
var (
	cursorKeys = tables.Table{Name: "cursor_keys", Impersonal: []string{"secret"}}
	sinks      = tables.Table{
		Name: "event_sinks",
		Checks: []tables.Check{{
			Name: "nobody is ahead of the events",
			Query: `SELECT r.id, CONCAT('is at the position ', r.position, ', which is not given yet')
				FROM (SELECT ` + tables.Hex("id") + ` AS id, position FROM webhooks UNION ALL SELECT id, position FROM event_sinks) r
				JOIN event_sequencers q ON r.position > q.last_position`,
		}},
	}
)
