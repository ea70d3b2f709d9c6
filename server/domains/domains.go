// Package domains lists the tables of all domains. A test compares the list with the
// tables of the database.
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
	"github.com/moderato-live/moderato/server/jobs"
	"github.com/moderato-live/moderato/server/livestream"
	"github.com/moderato-live/moderato/server/moderation"
	"github.com/moderato-live/moderato/server/subscriptions"
	"github.com/moderato-live/moderato/server/webhooks"
)

// Tables returns the tables of all domains.
func Tables() []domain.Table {
	return slices.Concat(
		directory.Tables, access.Tables, chat.Tables, moderation.Tables, audience.Tables, content.Tables, activity.Tables,
		livestream.Tables, subscriptions.Tables, webhooks.Tables, erasure.Tables, []domain.Table{cursorKeys, sequencer, sinks},
	)
}

// Jobs returns the jobs that end or remove the rows whose time has come.
func Jobs() []jobs.Job {
	var all []jobs.Job
	for _, table := range Tables() {
		if table.Expire != nil {
			all = append(all, *table.Expire)
		}
	}
	return all
}

// The tables that belong to no domain.
var (
	cursorKeys = domain.Table{Name: "cursor_keys", Impersonal: []string{"secret"}}
	sequencer  = domain.Table{Name: "event_sequencers"}
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
