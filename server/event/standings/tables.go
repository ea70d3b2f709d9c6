package standings

import (
	"time"

	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// Tables describes the table of chat servers that hold standings.
var Tables = []tables.Table{{
	// A row exists for about a minute longer than the stream of a chat server, which ends
	// after an hour at the latest. Its channels are those that the chat server named, and
	// say nothing about anyone.
	Name: "standing_subscribers", Impersonal: []string{"client_id", "name", "channel_ids", "delays"},
	Expire: func(env tables.Env) jobs.Job {
		return jobs.Expire(env.Store, "remove gone subscribers of standings", "standing_subscribers", "expires_at", 0, time.Minute)
	},
}}
