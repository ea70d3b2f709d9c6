package live

import (
	"time"

	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/store/jobs"
)

const (
	// keepBatches is how long a batch is kept for the other servers.
	keepBatches = 10 * time.Second
	// removeInterval is how often old batches are removed.
	removeInterval = 5 * time.Second
)

// Tables describes the tables with which servers exchange messages.
var Tables = []tables.Table{
	{
		// The rows exist for some seconds. Messages of a deleted user or channel are not
		// delivered, because they are not visible.
		Name: "chat_batches", Impersonal: []string{"server_id", "messages"},
		Expire: func(env tables.Env) jobs.Job {
			return jobs.Expire(env.Store, "remove delivered chat messages", "chat_batches", "created_at", keepBatches, removeInterval)
		},
	},
	{
		Name: "chat_servers",
		Expire: func(env tables.Env) jobs.Job {
			return jobs.Expire(env.Store, "remove stopped chat servers", "chat_servers", "expires_at", 0, time.Minute)
		},
	},
}
