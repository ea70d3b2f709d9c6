package rules

import (
	"context"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// expireInterval is the interval between two looks for settings that have ended. It is short
// enough to announce an end within a second.
const expireInterval = 500 * time.Millisecond

// ofExistingChannel is the condition that the channel of settings exists. In a deleted channel
// there is nothing to announce, and the eraser removes its settings.
const ofExistingChannel = "EXISTS (SELECT 1 FROM channels c WHERE c.id = chat_settings.channel_id)"

// Tables describes the tables of the rules of chat.
var Tables = []tables.Table{
	{
		Name: "chat_settings", Channel: "channel_id", Impersonal: []string{"settings"},
		References: []tables.Reference{{Column: "channel_id", Table: "channels"}},
		Checks: []tables.Check{{
			Name: "settings that have ended are announced",
			Query: `SELECT ` + tables.Hex("channel_id") + `, CONCAT('is a channel with settings that ended at ', ends_at) FROM chat_settings
				WHERE ends_at < ? AND ` + ofExistingChannel,
			Args: tables.AMinuteAgo,
		}},
		Expire: func(env tables.Env) jobs.Job {
			return jobs.Job{
				Name: "end settings of chats", Interval: expireInterval,
				Run: jobs.All((&Expirer{Store: env.Store}).EndSettings),
				Due: jobs.Lapsed(env.Store, "chat_settings", "ends_at", 0, ofExistingChannel),
			}
		},
	},
	{
		Name: "chat_rules", Channel: "channel_id", Impersonal: []string{"id", "rule_id", "rule"},
		Users:      []tables.UserColumn{{Name: "editor_id", Erase: tables.WithRow}},
		Erase:      tables.Erasure{User: []tables.Step{{Name: "editors of rules", Do: passRulesOf}}},
		References: []tables.Reference{{Column: "channel_id", Table: "channels"}, {Column: "editor_id", Table: "users"}},
		Checks:     []tables.Check{expiredAreDeleted, postsSeeRules},
		Expire: func(env tables.Env) jobs.Job {
			return jobs.Job{
				Name: "delete expired rules", Interval: expireInterval,
				Run: jobs.All((&Expirer{Store: env.Store}).DeleteRules),
				Due: jobs.Lapsed(env.Store, "chat_rules", "expires_at", 0, ofChannelWithRules),
			}
		},
		Remove: func(env tables.Env) jobs.Job {
			return jobs.Expire(env.Store, "remove old rules", "chat_rules", "ended_at", keepVersions, time.Minute)
		},
	},
	{
		Name: "chat_rule_versions", Channel: "channel_id", Impersonal: []string{"id", "client_id", "cause", "changes"},
		Users:      []tables.UserColumn{{Name: "moderator_id", Erase: tables.ReplaceID}},
		References: []tables.Reference{{Column: "channel_id", Table: "channels"}},
		Expire: func(env tables.Env) jobs.Job {
			return jobs.Expire(env.Store, "remove old versions of rules", "chat_rule_versions", "changed_at", keepVersions, time.Minute)
		},
	},
	{
		Name: "shields", Channel: "channel_id", Impersonal: []string{"preset", "cause", "reason"},
		Users:      []tables.UserColumn{{Name: "started_by", Erase: tables.ReplaceID}},
		References: []tables.Reference{{Column: "channel_id", Table: "channels"}},
		Checks: []tables.Check{
			{
				// So the end of a shield is among the ends of settings, which are announced.
				Name: "shields and settings agree",
				Query: `SELECT ` + tables.Hex("u.channel_id") + `, CONCAT('is a channel whose shield ends at ', SUM(u.row_end), ', and in its settings at ', SUM(u.settings_end)) FROM (
						SELECT channel_id, ends_at AS row_end, 0 AS settings_end FROM shields WHERE ends_at IS NOT NULL
						UNION ALL SELECT channel_id, 0, CAST(JSON_EXTRACT(settings, '$.shield.until') AS SIGNED) FROM chat_settings WHERE JSON_EXTRACT(settings, '$.shield') IS NOT NULL) u
					GROUP BY u.channel_id HAVING SUM(u.row_end) <> SUM(u.settings_end)`,
			},
		},
		Expire: autoStartJob,
	},
	{
		Name: "unique_texts", Channel: "channel_id", Impersonal: []string{"id", "message_id"},
		Expire: func(env tables.Env) jobs.Job {
			return jobs.Expire(env.Store, "remove old texts", "unique_texts", "sent_at", maxUnique, time.Minute)
		},
	},
}

// Expirer announces settings that have ended. Whether a setting is in force never depends on it.
type Expirer struct {
	Store *store.Store
}

// EndSettings handles every channel with settings that have ended. The change of the row and the
// event are in one transaction, so every end is announced once.
func (e *Expirer) EndSettings(ctx context.Context) error {
	return e.eachLapsed(ctx, "chat_settings", "ends_at", ofExistingChannel, func(ctx context.Context, c *change.Change) error {
		_, err := endPassed(ctx, c)
		return err
	})
}

// eachLapsed makes a change of every channel with rows of a table that match a condition, and in
// which the time of a column has come.
func (e *Expirer) eachLapsed(ctx context.Context, table, column, condition string, do func(context.Context, *change.Change) error) error {
	now, err := e.Store.Clock.Now(ctx, e.Store.Read)
	if err != nil {
		return err
	}
	due, err := jobs.FindDue[uid.ID](ctx, e.Store, table, "channel_id", column, condition, now)
	if err != nil {
		return fmt.Errorf("find rows of %s that have lapsed: %w", table, err)
	}
	return e.each(ctx, due, do)
}

// each makes a change of every channel.
func (e *Expirer) each(ctx context.Context, channels map[uid.ID][]uid.ID, do func(context.Context, *change.Change) error) error {
	_, err := jobs.EachChannel(ctx, channels, func(ctx context.Context, channelID uid.ID, _ []uid.ID) (int, error) {
		return 1, change.ApplyUnattended(ctx, e.Store, channelID, do)
	})
	return err
}
