package tickets

import (
	"time"

	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// cleanInterval is how often expired tickets are removed.
const cleanInterval = 10 * time.Second

// Tables describes the table of tickets.
var Tables = []tables.Table{{
	Name: "event_tickets", Impersonal: []string{"token_id", "redeemed_by"},
	Users: []tables.UserColumn{{Name: "user_id", Erase: tables.RemoveRow}},
	Expire: func(env tables.Env) jobs.Job {
		return jobs.Expire(env.Store, "remove expired event tickets", "event_tickets", "expires_at", 0, cleanInterval)
	},
}}
