package moderation

import (
	"context"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/role"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// Tables describes the tables of moderation.
var Tables = []tables.Table{
	{
		Name: "bans", Channel: "channel_id",
		Users: []tables.UserColumn{
			{Name: "user_id", Erase: tables.RemoveRow}, {Name: "moderator_id", Erase: tables.ReplaceID}, {Name: "reason", Erase: tables.WithRow},
		},
		Impersonal: []string{"batch_id"},
		Imports:    []tables.Import{tables.ImportOf((*platformv1.Record).GetBan, putBan, (*platformv1.BanRecord).GetChannelId)},
		References: []tables.Reference{{Column: "channel_id", Table: "channels"}, {Column: "user_id", Table: "users"}, {Column: "moderator_id", Table: "users"}},
		Checks: []tables.Check{{
			Name: "every ban that was not imported has its events",
			QueryOn: func(d *store.Dialect) string {
				return `SELECT ` + tables.Pair("b.channel_id", "b.user_id") + `, CONCAT('is a ban without the event ', t.type)
					FROM bans b JOIN (SELECT 'channel.ban' AS type UNION ALL SELECT 'channel.chat.clear_user_messages') t ON 1 = 1
					WHERE b.banned_at > ? AND NOT b.imported AND NOT (b.replaces AND t.type <> 'channel.ban') AND NOT EXISTS (
						SELECT 1 FROM events e` + d.ByIndex("event_target_id_channel_id_sequence") + `
						WHERE e.channel_id = b.channel_id AND e.target_id = b.user_id AND e.type = t.type AND e.occurred_at = b.banned_at)`
			},
			Args: func(t tables.CheckTime) []any { return []any{keptSince(t.Retention, t.Now)} },
		}, {
			Name: "bans that have lapsed are announced",
			Query: `SELECT ` + tables.Pair("channel_id", "user_id") + `, CONCAT('is a ban that lapsed at ', expires_at) FROM bans
				WHERE expires_at < ? AND ` + ofExistingChannel,
			Args: tables.AMinuteAgo,
		}},
		Expire: func(env tables.Env) jobs.Job {
			return jobs.Job{
				Name: "expire bans", Interval: expireInterval,
				Run: jobs.All((&Expirer{Store: env.Store}).ExpireBans),
				Due: jobs.Lapsed(env.Store, "bans", "expires_at", 0, ofExistingChannel),
			}
		},
	},
	{
		Name: "replaced_bans", Channel: "channel_id",
		Users: []tables.UserColumn{
			{Name: "user_id", Erase: tables.RemoveRow}, {Name: "moderator_id", Erase: tables.ReplaceID}, {Name: "reason", Erase: tables.WithRow},
		},
		Impersonal: []string{"batch_id"},
		References: []tables.Reference{{Column: "channel_id", Table: "channels"}, {Column: "user_id", Table: "users"}, {Column: "moderator_id", Table: "users"}},
		Checks: []tables.Check{{
			Name: "replaced bans are of users whose ban replaces others",
			Query: `SELECT ` + tables.Pair("r.channel_id", "r.user_id") + `, 'has a replaced ban, but no ban that replaces others' FROM replaced_bans r
				WHERE NOT EXISTS (SELECT 1 FROM bans b WHERE b.channel_id = r.channel_id AND b.user_id = r.user_id AND b.replaces)
					AND NOT EXISTS (SELECT 1 FROM erasures e WHERE e.id = r.channel_id OR e.id = r.user_id)`,
		}},
	},
	{
		Name: "pardons", Channel: "channel_id", Impersonal: []string{"sweep_id"},
		Users: []tables.UserColumn{{Name: "user_id", Erase: tables.RemoveRow}},
	},
	{
		Name: "ban_batches", Channel: "channel_id", Impersonal: []string{"reason"},
		Users:      []tables.UserColumn{{Name: "moderator_id", Erase: tables.ReplaceID}},
		References: []tables.Reference{{Column: "channel_id", Table: "channels"}, {Column: "moderator_id", Table: "users"}},
		Checks: []tables.Check{{
			Name: "bans name a batch of their channel",
			Query: `SELECT ` + tables.Pair("b.channel_id", "b.user_id") + `, CONCAT('is of the batch ', ` + tables.Hex("b.batch_id") + `, ', which is not there')
				FROM (SELECT channel_id, user_id, batch_id FROM bans UNION ALL SELECT channel_id, user_id, batch_id FROM replaced_bans) b WHERE b.batch_id IS NOT NULL
					AND NOT EXISTS (SELECT 1 FROM ban_batches x WHERE x.id = b.batch_id AND x.channel_id = b.channel_id)
					AND NOT EXISTS (SELECT 1 FROM erasures e WHERE e.id = b.channel_id)`,
		}},
		Expire: func(env tables.Env) jobs.Job {
			return (&BatchRemover{Store: env.Store, Keep: env.Retention["channel.ban"]}).Job()
		},
	},
	{
		Name: "sweeps", Channel: "channel_id", Impersonal: []string{"batch_id", "client_id", "phrase", "pattern", "reason"},
		Users: []tables.UserColumn{{Name: "user_id", Erase: tables.ReplaceID}, {Name: "moderator_id", Erase: tables.ReplaceID}},
		Checks: []tables.Check{{
			Name:  "sweeps that were committed are completed",
			Query: `SELECT ` + tables.Hex("id") + `, CONCAT('is a sweep that is due since ', due_at) FROM sweeps WHERE due_at < ?`,
			Args:  tables.AMinuteAgo,
		}},
		Expire: func(env tables.Env) jobs.Job {
			return jobs.Job{
				Name: "complete sweeps", Interval: expireInterval,
				Run: jobs.All((&SweepCompleter{Store: env.Store}).Complete),
				Due: jobs.Lapsed(env.Store, "sweeps", "due_at", 0, "1 = 1"),
			}
		},
	},
	{
		Name: "sweep_chunks", Channel: "channel_id", Impersonal: []string{"sweep_id"},
		Users:  []tables.UserColumn{{Name: "user_ids", Erase: tables.WithRow}},
		Erase:  tables.Erasure{User: []tables.Step{{Name: "previews of sweeps", Search: searchSwept}}},
		Export: tables.Export{Where: "INSTR(user_ids, ?) > 0", Args: tables.ByID},
		Expire: func(env tables.Env) jobs.Job {
			return jobs.Job{
				Name: "remove old sweeps", Interval: 10 * time.Second, MaxRest: 50 * time.Millisecond,
				Run: (&SweepCompleter{Store: env.Store}).RemoveOld,
				Due: jobs.Lapsed(env.Store, "sweeps", "remove_at", 0, "1 = 1"),
			}
		},
	},
	{
		Name: "mutes", Channel: "channel_id",
		Users: []tables.UserColumn{
			{Name: "user_id", Erase: tables.RemoveRow}, {Name: "moderator_id", Erase: tables.ReplaceID}, {Name: "reason", Erase: tables.WithRow},
		},
		Impersonal: []string{"rule_id"},
		Imports:    []tables.Import{tables.ImportOf((*platformv1.Record).GetMute, putMute, (*platformv1.MuteRecord).GetChannelId)},
		References: []tables.Reference{{Column: "channel_id", Table: "channels"}, {Column: "user_id", Table: "users"}},
		Checks: []tables.Check{{
			Name:  "mutes that have lapsed are announced",
			Query: `SELECT ` + tables.Pair("channel_id", "user_id") + `, CONCAT('is a mute that lapsed at ', expires_at) FROM mutes WHERE expires_at < ?`,
			Args:  tables.AMinuteAgo,
		}},
		Expire: func(env tables.Env) jobs.Job {
			return jobs.Job{
				Name: "expire mutes", Interval: expireInterval,
				Run: jobs.All((&Expirer{Store: env.Store}).ExpireMutes),
				Due: jobs.Lapsed(env.Store, "mutes", "expires_at", 0, "1 = 1"),
			}
		},
	},
	{
		Name: "channel_metrics", Channel: "channel_id",
		Expire: func(env tables.Env) jobs.Job {
			return jobs.Expire(env.Store, "remove old metrics", "channel_metrics", "started_at", metricsKept, time.Minute)
		},
	},
	{
		Name: "roles", Channel: "channel_id", Impersonal: []string{"role"},
		Erase:      tables.Erasure{Channel: []tables.Step{{Name: "roles in the channel", Do: eraseRoles}}},
		Users:      []tables.UserColumn{{Name: "user_id", Erase: tables.RemoveRow}},
		Imports:    []tables.Import{tables.ImportOf((*platformv1.Record).GetRole, putRole, (*platformv1.RoleRecord).GetChannelId)},
		References: []tables.Reference{{Column: "channel_id", Table: "channels"}, {Column: "user_id", Table: "users"}},
	},
}

// keptSince returns the time since which the events of a ban must still exist.
func keptSince(keep eventtype.Retention, now instant.Instant) instant.Instant {
	var shortest time.Duration
	for _, kind := range []eventtype.Type{"channel.ban", "channel.chat.clear_user_messages"} {
		if kept := keep[kind]; kept > 0 && (shortest == 0 || kept < shortest) {
			shortest = kept
		}
	}
	if shortest == 0 {
		return 0
	}
	return now.Add(-shortest)
}

// eraseRoles removes the roles in a deleted channel. Another channel may get its id
// afterwards, so the listeners of former moderators must no longer have it.
func eraseRoles(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID) (int, error) {
	rows, err := tx.Role.Query().Where(role.ChannelID(id)).Limit(tables.EraseBatch).All(ctx)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	var ids, former []uid.ID
	for _, row := range rows {
		ids = append(ids, row.ID)
		if row.Role == Moderator.Name {
			former = append(former, row.UserID)
		}
	}
	if _, err := tx.Role.Delete().Where(role.IDIn(ids...)).Exec(ctx); err != nil {
		return 0, err
	}
	return len(rows), authz.RightsChanged(ctx, s.Dialect, tx, former...)
}
