package chat

import (
	"context"
	"fmt"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
)

const (
	day = 24 * time.Hour
	// chatterTime is how long a user counts as a chatter after the start of the day of the
	// latest message.
	chatterTime = 30 * day
	// manyChatters is the number of chatters beyond which it is remembered for rememberTime,
	// because counting them takes milliseconds.
	manyChatters = 10_000
	rememberTime = time.Minute
	// maxRemembered is for how many channels it is remembered.
	maxRemembered = 1000
)

// dayOf returns the start of the day of an instant, in UTC.
func dayOf(at instant.Instant) instant.Instant { return at - at%instant.Instant(day.Milliseconds()) }

// hasChatted returns the statement that records that users post in a channel on a day.
func hasChatted(d *store.Dialect, channelID uid.ID, today instant.Instant, users ...uid.ID) (query string, args []any) {
	for _, id := range users {
		args = append(args, channelID, id, today)
	}
	return "INSERT INTO chatters (channel_id, user_id, last_day) VALUES " + strings.TrimSuffix(strings.Repeat("(?,?,?),", len(users)), ",") +
		d.Upsert("channel_id, user_id") + "last_day = ?", append(args, today)
}

// chatterCount selects the number of users who posted in a channel during chatterTime.
var chatterCount = store.Declare(func(d *store.Dialect, channelID uid.ID) (string, []any) {
	now, args := d.Clock.Expression()
	return "SELECT COUNT(*) FROM chatters" + d.ByIndex("chatter_channel_id_last_day") + " WHERE channel_id = ? AND last_day >= " + now + " - ?",
		append(append([]any{channelID}, args...), chatterTime.Milliseconds())
})

// Chatters counts the users who post in channels. Use NewChatters to create one.
type Chatters struct {
	store *store.Store
	known *lru.Cache[uid.ID, counted]
}

// counted is a number, and when it was counted.
type counted struct {
	number int64
	at     instant.Instant
}

// NewChatters returns Chatters over a database.
func NewChatters(s *store.Store) *Chatters {
	known, err := lru.New[uid.ID, counted](maxRemembered)
	if err != nil {
		panic(err) // unreachable: the size is positive
	}
	return &Chatters{store: s, known: known}
}

// Count returns how many users posted in a channel on the last 30 days, in UTC. A large number
// may be a minute old.
func (c *Chatters) Count(ctx context.Context, channelID uid.ID) (number int64, err error) {
	now := c.store.Clock.Local()
	if known, ok := c.known.Get(channelID); ok && now.Sub(known.at) < rememberTime {
		return known.number, nil
	}
	if err := chatterCount.One(ctx, c.store, channelID, func(r *store.Row) { number = r.Int() }); err != nil {
		return 0, fmt.Errorf("count chatters: %w", c.store.Classify(err))
	}
	if number > manyChatters {
		c.known.Add(channelID, counted{number, now})
	}
	return number, nil
}
