package activity

import (
	"context"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/change/tables"
)

// Tables describes the table of activities.
var Tables = []tables.Table{{
	Name: "activities", Channel: "channel_id", Impersonal: []string{"type"},
	Users: []tables.UserColumn{
		{Name: "user_id", Erase: tables.RemoveRow}, {Name: "dedup_key", Erase: tables.WithRow},
		{Name: "info", Erase: tables.WithRow}, {Name: "action", Erase: tables.WithRow},
	},
	Imports: []tables.Import{tables.ImportOf((*platformv1.Record).GetActivity,
		func(ctx context.Context, tx feed.Tx, r *platformv1.ActivityRecord) error {
			_, err := putActivity(ctx, tx, r, true)
			return err
		}, (*platformv1.ActivityRecord).GetChannelId)},
	References: []tables.Reference{{Column: "channel_id", Table: "channels"}},
}}
