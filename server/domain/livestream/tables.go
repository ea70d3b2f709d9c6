package livestream

import (
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/change/tables"
)

// Tables describes the tables of live streams.
var Tables = []tables.Table{streams, raids}

var streams = tables.Table{
	Name: "streams", Channel: "channel_id", Impersonal: []string{"title", "lang", "preview_img_url"},
	Imports:    []tables.Import{tables.ImportOf((*platformv1.Record).GetStream, putRecord, (*platformv1.StreamRecord).GetChannelId)},
	References: []tables.Reference{{Column: "channel_id", Table: "channels"}},
	Checks: []tables.Check{{
		Name: "a channel is live exactly while it has a stream that has not ended",
		Query: `SELECT ` + tables.Hex("c.id") + `, CONCAT('has ', COUNT(s.id), ' streams that have not ended, and is live: ', c.is_live)
			FROM channels c LEFT JOIN streams s ON s.channel_id = c.id AND s.ended_at IS NULL
			GROUP BY c.id, c.is_live, c.live_started_at
			HAVING COUNT(s.id) <> CASE WHEN c.is_live THEN 1 ELSE 0 END OR (c.is_live AND MAX(s.started_at) <> c.live_started_at)`,
	}},
}

var raids = tables.Table{
	Name: "raids", Channel: "channel_id",
	Users:      []tables.UserColumn{{Name: "raider_id", Erase: tables.RemoveRow}, {Name: "dedup_key", Erase: tables.WithRow}},
	Imports:    []tables.Import{tables.ImportOf((*platformv1.Record).GetRaid, putRaid, nil)},
	References: []tables.Reference{{Column: "channel_id", Table: "channels"}, {Column: "raider_id", Table: "users"}},
}
