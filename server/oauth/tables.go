package oauth

import (
	"time"

	"github.com/moderato-live/moderato/server/domain"
	"github.com/moderato-live/moderato/server/jobs"
)

// Tables describes the tables of sign-ins.
var Tables = []domain.Table{
	{
		Name: "authorizations",
		Impersonal: []string{
			"secret", "client_id", "status", "scopes", "issuer", "redirect_uri", "state", "code_challenge", "code", "granted", "family_id",
		},
		Users:  []domain.UserColumn{{Name: "user_id", Erase: domain.RemoveRow}},
		Expire: remove("sign-in requests", "authorizations", "kept_until"),
	},
	{
		Name: "refresh_tokens", Impersonal: []string{"family_id", "client_id", "scopes", "earlier_successor", "latest_successor"},
		Users:  []domain.UserColumn{{Name: "user_id", Erase: domain.RemoveRow}},
		Expire: remove("refresh tokens", "refresh_tokens", "expires_at"),
	},
}

// removeInterval is how often what has expired is removed.
const removeInterval = time.Minute

// remove returns the job that removes the rows whose time in a column has come.
func remove(what, table, column string) func(domain.Env) jobs.Job {
	return func(env domain.Env) jobs.Job {
		return jobs.Expire(env.Store, "remove expired "+what, table, column, 0, removeInterval)
	}
}
