package content

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
)

// Tables describes the tables of the content of channels.
var Tables = []tables.Table{
	{
		Name: "clips", Channel: "channel_id", Impersonal: []string{"title", "preview_img_url", "clip_url"},
		Users:      []tables.UserColumn{{Name: "creator_id", Erase: tables.ReplaceID}},
		Imports:    []tables.Import{tables.ImportOf((*platformv1.Record).GetClip, tables.IgnoreRow(putClip), (*platformv1.ClipRecord).GetChannelId)},
		References: []tables.Reference{{Column: "channel_id", Table: "channels"}, {Column: "creator_id", Table: "users"}},
		Checks:     []tables.Check{tables.CountCheck("clip_count", "SELECT COUNT(*) FROM clips r WHERE r.channel_id = c.id")},
	},
	{
		Name: "vods", Channel: "channel_id", Impersonal: []string{"title", "preview_img_url"},
		Imports:    []tables.Import{tables.ImportOf((*platformv1.Record).GetVod, tables.IgnoreRow(putVod), (*platformv1.VodRecord).GetChannelId)},
		References: []tables.Reference{{Column: "channel_id", Table: "channels"}},
		Checks:     []tables.Check{tables.CountCheck("vod_count", "SELECT COUNT(*) FROM vods r WHERE r.channel_id = c.id")},
	},
	{
		Name: "emotes", Channel: "channel_id", Impersonal: []string{"name", "image_url"},
		Imports: []tables.Import{tables.ImportOf((*platformv1.Record).GetEmote, tables.IgnoreRow(putEmote), (*platformv1.EmoteRecord).GetChannelId)},
		Checks: []tables.Check{{
			Name: "an emote belongs to a channel or to the platform",
			Query: `SELECT ` + tables.Hex("r.id") + `, CONCAT('has the channel ', ` + tables.Hex("r.channel_id") + `, ', which does not exist')
				FROM emotes r WHERE r.channel_id <> ? AND NOT EXISTS (SELECT 1 FROM channels c WHERE c.id = r.channel_id)
				AND NOT EXISTS (SELECT 1 FROM erasures e WHERE e.id = r.channel_id)`,
			Args: func(tables.CheckTime) []any { return []any{platform} },
		}},
	},
	{
		Name: "votes", Channel: "channel_id",
		Users: []tables.UserColumn{{Name: "user_id", Erase: tables.WithRow}, {Name: "username", Erase: tables.WithRow}, {Name: "address", Erase: tables.WithRow}},
		Erase: tables.Erasure{User: []tables.Step{{Name: "votes of the user", Do: eraseVotes}}},
		// Votes that were recorded when no user had the username.
		Export:     tables.Export{Where: "user_id IS NULL AND username IN (?, ?)", Args: func(u *ent.User) []any { return []any{u.Username, u.Slug} }},
		Imports:    []tables.Import{tables.ImportOf((*platformv1.Record).GetVote, putVote, nil)},
		References: []tables.Reference{{Column: "channel_id", Table: "channels"}},
	},
}

// eraseVotes removes the user from votes. The votes still count.
func eraseVotes(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID) (int, error) {
	return tables.Exec(ctx, tx, "UPDATE votes SET user_id = NULL, username = ?, address = ''"+s.Some("votes", "user_id = ?", tables.EraseBatch),
		users.DeletedUsername, id)
}
