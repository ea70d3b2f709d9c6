// Package domains lists all domains: their tables, the jobs of their tables, and their
// services. A test compares the tables with those of the database.
package domains

import (
	"slices"

	"github.com/moderato-live/moderato/server/access"
	"github.com/moderato-live/moderato/server/activity"
	"github.com/moderato-live/moderato/server/audience"
	"github.com/moderato-live/moderato/server/chat"
	"github.com/moderato-live/moderato/server/content"
	"github.com/moderato-live/moderato/server/directory"
	"github.com/moderato-live/moderato/server/domain"
	"github.com/moderato-live/moderato/server/erasure"
	"github.com/moderato-live/moderato/server/idempotency"
	"github.com/moderato-live/moderato/server/jobs"
	"github.com/moderato-live/moderato/server/live"
	"github.com/moderato-live/moderato/server/livestream"
	"github.com/moderato-live/moderato/server/moderation"
	"github.com/moderato-live/moderato/server/oauth"
	"github.com/moderato-live/moderato/server/outbox"
	"github.com/moderato-live/moderato/server/standings"
	"github.com/moderato-live/moderato/server/subscriptions"
	"github.com/moderato-live/moderato/server/tickets"
	"github.com/moderato-live/moderato/server/webhooks"
)

// Tables returns the tables of all domains.
func Tables() []domain.Table {
	return slices.Concat(
		directory.Tables, access.Tables, chat.Tables, live.Tables, moderation.Tables, standings.Tables, audience.Tables, content.Tables, activity.Tables,
		livestream.Tables, subscriptions.Tables, tickets.Tables, idempotency.Tables, webhooks.Tables, oauth.Tables, outbox.Tables, erasure.Tables, []domain.Table{cursorKeys, sinks},
	)
}

// Jobs returns the jobs of all tables. It sets env.Tables.
func Jobs(env domain.Env) []jobs.Job {
	env.Tables = Tables()
	var all []jobs.Job
	for _, table := range env.Tables {
		if table.Expire != nil {
			all = append(all, table.Expire(env))
		}
	}
	return all
}

// The tables that belong to no domain.
var (
	cursorKeys = domain.Table{Name: "cursor_keys", Impersonal: []string{"secret"}}
	sinks      = domain.Table{
		Name: "event_sinks",
		Checks: []domain.Check{{
			Name: "nobody is ahead of the events",
			Query: `SELECT r.id, CONCAT('is at the position ', r.position, ', which is not given yet')
				FROM (SELECT ` + domain.Hex("id") + ` AS id, position FROM webhooks UNION ALL SELECT id, position FROM event_sinks) r
				JOIN event_sequencers q ON r.position > q.last_position`,
		}},
	}
)
