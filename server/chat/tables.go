package chat

import (
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/domain"
	"github.com/moderato-live/moderato/server/jobs"
)

// Tables describes the tables of chat.
var Tables = []domain.Table{
	{
		// Before the messages, so that an erasure leaves no pin of a message that is gone.
		Name: "pinned_messages", Channel: "channel_id", Impersonal: []string{"message_id"},
		Users: []domain.UserColumn{{Name: "user_id", Erase: domain.RemoveRow}},
		References: []domain.Reference{
			{Column: "channel_id", Table: "channels"}, {Column: "user_id", Table: "users"}, {Column: "message_id", Table: "messages"},
		},
	},
	{
		Name: "messages", Channel: "channel_id",
		Users:      []domain.UserColumn{{Name: "user_id", Erase: domain.RemoveRow}, {Name: "text", Erase: domain.WithRow}},
		Impersonal: []string{"reply_to_message_id"}, // of a message that may be gone
		Imports:    []domain.Import{domain.ImportOf((*platformv1.Record).GetMessage, putMessage, nil)},
		References: []domain.Reference{{Column: "channel_id", Table: "channels"}, {Column: "user_id", Table: "users"}},
	},
	{
		Name: "chatters", Channel: "channel_id",
		Users:      []domain.UserColumn{{Name: "user_id", Erase: domain.RemoveRow}},
		References: []domain.Reference{{Column: "channel_id", Table: "channels"}, {Column: "user_id", Table: "users"}},
		Expire: func(env domain.Env) jobs.Job {
			return jobs.Expire(env.Store, "remove old chatters", "chatters", "last_day", chatterTime, time.Hour)
		},
	},
	{
		Name: "chat_generations", Channel: "channel_id",
		Expire: func(env domain.Env) jobs.Job {
			return jobs.Job{
				Name: "purge cleared chats", Interval: purgeInterval, MaxRest: maxRest,
				Run:     (&ChannelPurger{Store: env.Store}).Purge,
				Backlog: jobs.CountDue(env.Store, "chat_generations", "purge_at", "1 = 1"),
			}
		},
	},
	{
		// The rows of a user are removed when the erasure ends: until then, a late
		// message has an old generation and is hidden.
		Name: "message_generations", Channel: "channel_id",
		Users: []domain.UserColumn{{Name: "user_id", Erase: domain.WithRow}},
		Expire: func(env domain.Env) jobs.Job {
			return jobs.Job{
				Name: "purge deleted messages", Interval: purgeInterval, MaxRest: maxRest,
				Run:     (&Purger{Store: env.Store}).Purge,
				Backlog: jobs.CountDue(env.Store, "message_generations", "purge_at", "1 = 1"),
			}
		},
	},
}
