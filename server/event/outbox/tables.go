package outbox

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// Tables describes the tables of events.
var Tables = []tables.Table{
	{
		Name: "events", Channel: "channel_id", Impersonal: []string{"type", "operation_id", "client_id", "request_id", "traceparent"},
		Users: []tables.UserColumn{
			{Name: "target_id", Erase: tables.WithRow}, {Name: "actor_id", Erase: tables.WithRow}, {Name: "payload", Erase: tables.WithRow},
			{Name: "evidence", Erase: tables.WithRow},
		},
		Erase: tables.Erasure{User: []tables.Step{
			{Name: "events about the user", Do: anonymizeTargets},
			{Name: "events of the user", Do: anonymizeActors},
			// In its own transaction, after the other steps are committed. Listeners are
			// therefore notified even if those steps ran before a crash.
			{Name: "what listeners receive", Do: rewriteForErasure},
		}},
		Export:     tables.Export{OnlyOf: map[string]string{"evidence": "target_id"}},
		References: []tables.Reference{{Column: "channel_id", Table: "channels"}},
		Checks: []tables.Check{
			{
				Name: "the sequence of a channel has no gap",
				Query: `SELECT ` + tables.Hex("c.id") + `, CONCAT('has ', COUNT(e.id), ' events after ', c.trimmed_sequence, ' up to ', c.event_sequence)
					FROM channels c LEFT JOIN events e ON e.channel_id = c.id AND e.sequence > c.trimmed_sequence
					GROUP BY c.id, c.trimmed_sequence, c.event_sequence
					HAVING COUNT(e.id) <> CASE WHEN c.event_sequence > c.trimmed_sequence THEN c.event_sequence - c.trimmed_sequence ELSE 0 END
						OR COALESCE(MAX(e.sequence), 0) > c.event_sequence`,
			},
			{
				Name: "only bans and mutes of users who exist have evidence",
				Query: `SELECT ` + tables.Hex("e.id") + `, CONCAT('is a ', e.type, ' with evidence') FROM events e
					WHERE e.evidence IS NOT NULL AND (e.type NOT IN ('channel.ban', 'channel.mute')
						OR NOT EXISTS (SELECT 1 FROM users u WHERE u.id = e.target_id AND u.id <> ?))`,
				Args: func(tables.CheckTime) []any { return []any{users.Deleted} },
			},
			{
				Name:  "events get their position soon",
				Query: `SELECT ` + tables.Hex("id") + `, CONCAT('happened at ', occurred_at, ' and has no position') FROM events WHERE position IS NULL AND occurred_at < ?`,
				Args:  tables.AMinuteAgo,
			},
			{
				Name:  "every position is given once",
				Query: `SELECT position, CONCAT('is of ', COUNT(*), ' events') FROM events WHERE position IS NOT NULL GROUP BY position HAVING COUNT(*) > 1`,
			},
			{
				Name:  "positions are within those given",
				Query: `SELECT ` + tables.Hex("e.id") + `, CONCAT('has the position ', e.position) FROM events e JOIN event_sequencers q ON e.position > q.last_position`,
			},
			{
				Name: "positions follow the sequence of their channel",
				Query: `SELECT ` + tables.Hex("a.id") + `, 'has a later position than the event that follows it in its channel'
					FROM events a JOIN events b ON b.channel_id = a.channel_id AND b.sequence = a.sequence + 1
					WHERE b.position < a.position OR (a.position IS NULL AND b.position IS NOT NULL)`,
			},
		},
		Expire: func(env tables.Env) jobs.Job { return NewTrimmer(env.Store, env.Log, env.Retention).Job() },
	},
	{Name: "event_sequencers"},
	{Name: "retentions", Impersonal: []string{"round_after"}},
}

func rewriteForErasure(ctx context.Context, _ *store.Store, tx *ent.Tx, _ uid.ID) (int, error) {
	return 0, Rewrite(ctx, tx)
}
