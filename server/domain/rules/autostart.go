package rules

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/buckets"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// autoStartInterval is the interval between two looks for shields to raise. The counts are written
// every few seconds, so a shorter one would find nothing sooner.
const autoStartInterval = time.Second

// maxRaised is how many shields one look raises. The next look raises the others.
const maxRaised = 100

// autoStartJob returns the job that raises shields by themselves. One server looks for them, because a
// look reads all presets that start themselves.
func autoStartJob(env tables.Env) jobs.Job {
	return jobs.Job{
		Name: "raise shields", Interval: autoStartInterval, IsElsewhere: env.IsElsewhere,
		Run: jobs.All((&Expirer{Store: env.Store}).RaiseShields),
		Due: func() (string, []any) { return reachedShields(env.Store) },
	}
}

// reachedShields returns the statement that selects the channels whose shield is down and is to be
// raised by itself: what all servers counted in the last minute has reached one of its numbers.
func reachedShields(s *store.Store) (query string, args []any) {
	now, nowArgs := s.Clock.Expression()
	query = "SELECT s.channel_id FROM shields s" + s.ByIndex("shield_starts_itself_channel_id") + s.OrderedJoin() + "channel_metrics m" + s.ByIndex("channelmetric_channel_id_seconds_started_at") +
		" ON m.channel_id = s.channel_id AND m.seconds = ? AND m.started_at >= " + now + " - ?" +
		" WHERE s.starts_itself = TRUE AND s.ends_at IS NULL AND COALESCE(s.rests_until, 0) <= " + now +
		" AND EXISTS (SELECT 1 FROM channels c WHERE c.id = s.channel_id)" +
		" GROUP BY s.channel_id, s.follows_per_minute, s.first_messages_per_minute, s.held_per_minute" +
		" HAVING SUM(m.follows) >= s.follows_per_minute OR SUM(m.first_messages) >= s.first_messages_per_minute OR SUM(m.held) >= s.held_per_minute"
	return query, slices.Concat([]any{int64(buckets.Fine / time.Second)}, nowArgs, []any{time.Minute.Milliseconds()}, nowArgs)
}

// RaiseShields raises every shield that is to be raised by itself. Of several servers that find the
// same shield, the first one raises it.
func (e *Expirer) RaiseShields(ctx context.Context) error {
	reached := map[uid.ID][]uid.ID{}
	query, args := reachedShields(e.Store)
	err := store.QueryEach(ctx, e.Store.Read, query+store.Limit(maxRaised), args, func(scan func(...any) error) error {
		var id uid.ID
		err := scan(&id)
		reached[id] = []uid.ID{id}
		return err
	})
	if err != nil {
		return fmt.Errorf("find shields to raise: %w", err)
	}
	return e.each(ctx, reached, raiseByItself)
}

// raiseByItself raises the shield of the channel of a change, unless it was raised, lowered or
// changed since the look.
func raiseByItself(ctx context.Context, c *change.Change) error {
	present, err := endPassed(ctx, c)
	if err != nil {
		return err
	}
	row, err := readShield(ctx, c.Tx.Shield, c.ChannelID)
	if err != nil || !row.StartsItself || row.EndsAt != nil || row.RestsUntil != nil && c.Now < *row.RestsUntil {
		return err
	}
	return raise(ctx, c, present, row, byItself, c.Now.Add(shieldTime), "")
}
