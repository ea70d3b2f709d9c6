package activity

import (
	"context"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/domain"
	"github.com/moderato-live/moderato/server/feed"
)

// Tables describes the table of activities.
var Tables = []domain.Table{{
	Name: "activities", Channel: "channel_id", Impersonal: []string{"type"},
	Users: []domain.UserColumn{
		{Name: "user_id", Erase: domain.RemoveRow}, {Name: "dedup_key", Erase: domain.WithRow},
		{Name: "info", Erase: domain.WithRow}, {Name: "action", Erase: domain.WithRow},
	},
	Imports: []domain.Import{domain.ImportOf((*platformv1.Record).GetActivity,
		func(ctx context.Context, tx feed.Tx, r *platformv1.ActivityRecord) error {
			_, err := putActivity(ctx, tx, r, true)
			return err
		}, (*platformv1.ActivityRecord).GetChannelId)},
	References: []domain.Reference{{Column: "channel_id", Table: "channels"}},
}}
