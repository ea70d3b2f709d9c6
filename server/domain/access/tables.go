package access

import (
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// Tables describes the tables of clients and what users grant them.
var Tables = []tables.Table{
	{
		Name: "clients", Impersonal: []string{"name", "redirect_uris", "scopes", "secret", "previous_secret"},
		Imports: []tables.Import{tables.ImportOf((*platformv1.Record).GetClient, tables.IgnoreRow(putClient), nil)},
	},
	{
		Name: "grants", Impersonal: []string{"client_id", "scopes"},
		Users:   []tables.UserColumn{{Name: "user_id", Erase: tables.RemoveRow}},
		Imports: []tables.Import{tables.ImportOf((*platformv1.Record).GetGrant, tables.IgnoreRow(putGrant), nil)},
	},
	{
		Name: "tokens", Impersonal: []string{"kind", "client_id", "scopes", "family_id"},
		Users:  []tables.UserColumn{{Name: "user_id", Erase: tables.RemoveRow}},
		Expire: func(env tables.Env) jobs.Job { return authn.ExpireTokens(env.Store) },
	},
}
