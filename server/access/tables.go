package access

import (
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/authn"
	"github.com/moderato-live/moderato/server/domain"
	"github.com/moderato-live/moderato/server/jobs"
)

// Tables describes the tables of clients and what users grant them.
var Tables = []domain.Table{
	{
		Name: "clients", Impersonal: []string{"name", "redirect_uris", "scopes", "secret", "previous_secret"},
		Imports: []domain.Import{domain.ImportOf((*platformv1.Record).GetClient, domain.IgnoreRow(putClient), nil)},
	},
	{
		Name: "grants", Impersonal: []string{"client_id", "scopes"},
		Users:   []domain.UserColumn{{Name: "user_id", Erase: domain.RemoveRow}},
		Imports: []domain.Import{domain.ImportOf((*platformv1.Record).GetGrant, domain.IgnoreRow(putGrant), nil)},
	},
	{
		Name: "tokens", Impersonal: []string{"kind", "client_id", "scopes", "family_id"},
		Users:  []domain.UserColumn{{Name: "user_id", Erase: domain.RemoveRow}},
		Expire: func(env domain.Env) jobs.Job { return authn.ExpireTokens(env.Store) },
	},
}
