package directory

import (
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/counts"
	"github.com/moderato-live/moderato/server/domain"
	"github.com/moderato-live/moderato/server/jobs"
)

// Tables describes the tables of the directory. The transaction that deletes a user or
// channel changes their rows, and the eraser removes a user's row at its end.
var Tables = []domain.Table{
	{
		Name:       "categories",
		Impersonal: []string{"name", "slug", "image_url"},
		Imports:    []domain.Import{domain.ImportOf((*platformv1.Record).GetCategory, domain.IgnoreRow(putCategory), nil)},
	},
	{
		Name: "users",
		Users: []domain.UserColumn{
			{Name: "username", Erase: domain.WithRow}, {Name: "slug", Erase: domain.WithRow},
			{Name: "display_name", Erase: domain.WithRow}, {Name: "avatar_url", Erase: domain.WithRow},
		},
		Export:  domain.Export{Where: "id = ?", Args: domain.ByID},
		Imports: []domain.Import{domain.ImportOf((*platformv1.Record).GetUser, domain.IgnoreRow(putUser), nil)},
	},
	{
		Name: "channels", Impersonal: []string{"title", "bio", "lang", "preview_img_url"},
		Export:     domain.Export{Where: "id = ?", Args: domain.ByID},
		Imports:    []domain.Import{domain.ImportOf((*platformv1.Record).GetChannel, domain.IgnoreRow(putChannel), (*platformv1.ChannelRecord).GetId)},
		References: []domain.Reference{{Column: "id", Table: "users"}},
	},
	{
		Name: "channel_counts",
		Checks: []domain.Check{{
			Name: "the number of channels of a category is that of the rows",
			Query: `SELECT n.id, CONCAT('(twice the category, plus 1 for live) counts ', n.more, ' channels more than there are')
				FROM (` + counts.Surplus + `) n WHERE n.more <> 0`,
			Fix: counts.Fix,
		}},
	},
	{
		Name:   "channel_count_deltas",
		Expire: func(env domain.Env) jobs.Job { return (&counts.Compactor{Store: env.Store}).Job() },
	},
}
