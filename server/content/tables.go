package content

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/domain"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
)

// Tables describes the tables of the content of channels.
var Tables = []domain.Table{
	{
		Name: "clips", Channel: "channel_id", Impersonal: []string{"title", "preview_img_url", "clip_url"},
		Users:      []domain.UserColumn{{Name: "creator_id", Erase: domain.ReplaceID}},
		Imports:    []domain.Import{domain.ImportOf((*platformv1.Record).GetClip, domain.IgnoreRow(putClip), (*platformv1.ClipRecord).GetChannelId)},
		References: []domain.Reference{{Column: "channel_id", Table: "channels"}, {Column: "creator_id", Table: "users"}},
		Checks:     []domain.Check{domain.CountCheck("clip_count", "SELECT COUNT(*) FROM clips r WHERE r.channel_id = c.id")},
	},
	{
		Name: "vods", Channel: "channel_id", Impersonal: []string{"title", "preview_img_url"},
		Imports:    []domain.Import{domain.ImportOf((*platformv1.Record).GetVod, domain.IgnoreRow(putVod), (*platformv1.VodRecord).GetChannelId)},
		References: []domain.Reference{{Column: "channel_id", Table: "channels"}},
		Checks:     []domain.Check{domain.CountCheck("vod_count", "SELECT COUNT(*) FROM vods r WHERE r.channel_id = c.id")},
	},
	{
		Name: "emotes", Channel: "channel_id", Impersonal: []string{"name", "image_url"},
		Imports: []domain.Import{domain.ImportOf((*platformv1.Record).GetEmote, domain.IgnoreRow(putEmote), (*platformv1.EmoteRecord).GetChannelId)},
		Checks: []domain.Check{{
			Name: "an emote belongs to a channel or to the platform",
			Query: `SELECT ` + domain.Hex("r.id") + `, CONCAT('has the channel ', ` + domain.Hex("r.channel_id") + `, ', which does not exist')
				FROM emotes r WHERE r.channel_id <> ? AND NOT EXISTS (SELECT 1 FROM channels c WHERE c.id = r.channel_id)
				AND NOT EXISTS (SELECT 1 FROM erasures e WHERE e.id = r.channel_id)`,
			Args: func(domain.CheckTime) []any { return []any{platform} },
		}},
	},
	{
		Name: "votes", Channel: "channel_id",
		Users: []domain.UserColumn{{Name: "user_id", Erase: domain.WithRow}, {Name: "username", Erase: domain.WithRow}, {Name: "address", Erase: domain.WithRow}},
		Erase: domain.Erasure{User: []domain.Step{{Name: "votes of the user", Do: eraseVotes}}},
		// Votes that were recorded when no user had the username.
		Export:     domain.Export{Where: "user_id IS NULL AND username IN (?, ?)", Args: func(u *ent.User) []any { return []any{u.Username, u.Slug} }},
		Imports:    []domain.Import{domain.ImportOf((*platformv1.Record).GetVote, putVote, nil)},
		References: []domain.Reference{{Column: "channel_id", Table: "channels"}},
	},
}

// eraseVotes removes the user from votes. The votes still count.
func eraseVotes(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID) (int, error) {
	return domain.Exec(ctx, tx, "UPDATE votes SET user_id = NULL, username = ?, address = ''"+s.Some("votes", "user_id = ?", domain.EraseBatch),
		users.DeletedUsername, id)
}
