package tickets

import (
	"time"

	"github.com/moderato-live/moderato/server/domain"
	"github.com/moderato-live/moderato/server/jobs"
)

// cleanInterval is how often expired tickets are removed.
const cleanInterval = 10 * time.Second

// Tables describes the table of tickets.
var Tables = []domain.Table{{
	Name: "event_tickets", Impersonal: []string{"token_id", "redeemed_by"},
	Users: []domain.UserColumn{{Name: "user_id", Erase: domain.RemoveRow}},
	Expire: func(env domain.Env) jobs.Job {
		return jobs.Expire(env.Store, "remove expired event tickets", "event_tickets", "expires_at", 0, cleanInterval)
	},
}}
