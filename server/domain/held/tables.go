package held

import (
	"time"

	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// keptFor is how long messages are kept that wait no more.
const keptFor = 90 * 24 * time.Hour

// Tables describes the table of held messages.
var Tables = []tables.Table{
	{
		Name: "held_messages", Channel: "channel_id", Impersonal: []string{"id", "rule_id", "reply_to_message_id", "status"},
		Users: []tables.UserColumn{
			{Name: "user_id", Erase: tables.RemoveRow}, {Name: "text", Erase: tables.WithRow}, {Name: "details", Erase: tables.WithRow},
			{Name: "claimed_by", Erase: tables.ReplaceID}, {Name: "decided_by", Erase: tables.ReplaceID},
		},
		References: []tables.Reference{{Column: "channel_id", Table: "channels"}, {Column: "user_id", Table: "users"}},
		Checks: []tables.Check{
			{
				Name: "messages that are due wait no more",
				Query: `SELECT ` + tables.Hex("id") + `, CONCAT('was due at ', due_at) FROM held_messages
					WHERE due_at < ? AND ` + ofExistingChannel,
				Args: tables.AMinuteAgo,
			},
			{
				Name: "messages wait or were decided",
				Query: `SELECT ` + tables.Hex("id") + `, CONCAT('is ', status, ', although it is due at ', COALESCE(due_at, 'no time'), ' and was decided at ', COALESCE(decided_at, 'no time'))
					FROM held_messages WHERE (due_at IS NULL) <> (decided_at IS NOT NULL) OR (due_at IS NULL) = (status = 'PENDING') OR due_at <> expires_at`,
			},
		},
		Expire: func(env tables.Env) jobs.Job {
			return jobs.Expire(env.Store, "remove old held messages", "held_messages", "decided_at", keptFor, time.Minute)
		},
	},
}
