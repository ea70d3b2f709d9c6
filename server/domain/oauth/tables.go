package oauth

import (
	"time"

	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// Tables describes the tables of sign-ins.
var Tables = []tables.Table{
	{
		Name: "authorizations",
		Impersonal: []string{
			"secret", "client_id", "status", "scopes", "issuer", "redirect_uri", "state", "code_challenge", "code", "granted", "family_id",
		},
		Users:  []tables.UserColumn{{Name: "user_id", Erase: tables.RemoveRow}},
		Expire: remove("sign-in requests", "authorizations", "kept_until"),
	},
	{
		Name: "refresh_tokens", Impersonal: []string{"family_id", "client_id", "scopes", "earlier_successor", "latest_successor"},
		Users:  []tables.UserColumn{{Name: "user_id", Erase: tables.RemoveRow}},
		Expire: remove("refresh tokens", "refresh_tokens", "expires_at"),
	},
}

// removeInterval is how often what has expired is removed.
const removeInterval = time.Minute

// remove returns the job that removes the rows whose time in a column has come.
func remove(what, table, column string) func(tables.Env) jobs.Job {
	return func(env tables.Env) jobs.Job {
		return jobs.Expire(env.Store, "remove expired "+what, table, column, 0, removeInterval)
	}
}
