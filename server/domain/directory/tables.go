package directory

import (
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/store/counts"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// Tables describes the tables of the directory. The transaction that deletes a user or
// channel changes their rows, and the eraser removes a user's row at its end.
var Tables = []tables.Table{
	{
		Name:       "categories",
		Impersonal: []string{"name", "slug", "image_url"},
		Imports:    []tables.Import{tables.ImportOf((*platformv1.Record).GetCategory, tables.IgnoreRow(putCategory), nil)},
	},
	{
		Name: "users",
		Users: []tables.UserColumn{
			{Name: "username", Erase: tables.WithRow}, {Name: "slug", Erase: tables.WithRow},
			{Name: "display_name", Erase: tables.WithRow}, {Name: "avatar_url", Erase: tables.WithRow},
		},
		Export:  tables.Export{Where: "id = ?", Args: tables.ByID},
		Imports: []tables.Import{tables.ImportOf((*platformv1.Record).GetUser, tables.IgnoreRow(putUser), nil)},
	},
	{
		Name: "channels", Impersonal: []string{"title", "bio", "lang", "preview_img_url"},
		Export:     tables.Export{Where: "id = ?", Args: tables.ByID},
		Imports:    []tables.Import{tables.ImportOf((*platformv1.Record).GetChannel, tables.IgnoreRow(putChannel), (*platformv1.ChannelRecord).GetId)},
		References: []tables.Reference{{Column: "id", Table: "users"}},
	},
	{
		Name: "channel_counts",
		Checks: []tables.Check{{
			Name: "the number of channels of a category is that of the rows",
			Query: `SELECT n.id, CONCAT('(twice the category, plus 1 for live) counts ', n.more, ' channels more than there are')
				FROM (` + counts.Surplus + `) n WHERE n.more <> 0`,
			Fix: counts.Fix,
		}},
	},
	{
		Name:   "channel_count_deltas",
		Expire: func(env tables.Env) jobs.Job { return (&counts.Compactor{Store: env.Store}).Job() },
	},
}
