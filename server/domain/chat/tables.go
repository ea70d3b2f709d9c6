package chat

import (
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// Tables describes the tables of chat.
var Tables = []tables.Table{
	{
		// Before the messages, so that an erasure leaves no pin of a message that is gone.
		Name: "pinned_messages", Channel: "channel_id", Impersonal: []string{"message_id"},
		Users: []tables.UserColumn{{Name: "user_id", Erase: tables.RemoveRow}},
		References: []tables.Reference{
			{Column: "channel_id", Table: "channels"}, {Column: "user_id", Table: "users"}, {Column: "message_id", Table: "messages"},
		},
	},
	{
		Name: "messages", Channel: "channel_id",
		Users:      []tables.UserColumn{{Name: "user_id", Erase: tables.RemoveRow}, {Name: "text", Erase: tables.WithRow}},
		Impersonal: []string{"reply_to_message_id"}, // of a message that may be gone
		Imports:    []tables.Import{tables.ImportOf((*platformv1.Record).GetMessage, putMessage, nil)},
		References: []tables.Reference{{Column: "channel_id", Table: "channels"}, {Column: "user_id", Table: "users"}},
		Expire:     func(env tables.Env) jobs.Job { return NewRetention(env.Store, env.Log, env.MessageRetention).Job() },
	},
	{
		// This step comes after the one of messages: if retention removes a message during an
		// erasure, it writes a row here.
		Name: "first_messages", Channel: "channel_id",
		Users:      []tables.UserColumn{{Name: "user_id", Erase: tables.RemoveRow}},
		References: []tables.Reference{{Column: "channel_id", Table: "channels"}, {Column: "user_id", Table: "users"}},
	},
	{
		Name: "chatters", Channel: "channel_id",
		Users:      []tables.UserColumn{{Name: "user_id", Erase: tables.RemoveRow}},
		References: []tables.Reference{{Column: "channel_id", Table: "channels"}, {Column: "user_id", Table: "users"}},
		Expire: func(env tables.Env) jobs.Job {
			return jobs.Expire(env.Store, "remove old chatters", "chatters", "last_day", chatterTime, time.Hour)
		},
	},
	{
		Name: "chat_generations", Channel: "channel_id",
		Expire: func(env tables.Env) jobs.Job {
			return jobs.Job{
				Name: "purge cleared chats", Interval: purgeInterval, MaxRest: maxRest,
				Run: (&ChannelPurger{Store: env.Store}).Purge,
				Due: jobs.Lapsed(env.Store, "chat_generations", "purge_at", 0, "1 = 1"),
			}
		},
	},
	{
		// The rows of a user are removed when the erasure ends: until then, a late
		// message has an old generation and is hidden.
		Name: "message_generations", Channel: "channel_id",
		Users: []tables.UserColumn{{Name: "user_id", Erase: tables.WithRow}},
		Expire: func(env tables.Env) jobs.Job {
			return jobs.Job{
				Name: "purge deleted messages", Interval: purgeInterval, MaxRest: maxRest,
				Run: (&Purger{Store: env.Store}).Purge,
				Due: jobs.Lapsed(env.Store, "message_generations", "purge_at", 0, "1 = 1"),
			}
		},
	},
}
