package idempotency

import (
	"time"

	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// cleanInterval is how often expired rows are removed.
const cleanInterval = time.Minute

// Tables describes the table of idempotency keys. Nobody can read the request and the
// response without the key, which is not stored.
var Tables = []tables.Table{{
	Name: "idempotency_keys", Impersonal: []string{"request", "response"},
	Users: []tables.UserColumn{{Name: "user_id", Erase: tables.RemoveRow}},
	Checks: []tables.Check{{
		Name:  "every idempotency key has a response",
		Query: "SELECT " + tables.Hex("id") + ", 'has no response' FROM idempotency_keys WHERE LENGTH(response) = 0",
	}},
	Expire: func(env tables.Env) jobs.Job {
		return jobs.Expire(env.Store, "remove expired idempotency keys", "idempotency_keys", "created_at", Lifetime, cleanInterval)
	},
}}
