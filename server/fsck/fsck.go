// Package fsck checks a whole database against the rules that every transaction
// maintains, from outside those transactions.
package fsck

import (
	"context"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/outbox"
	"github.com/moderato-live/moderato/server/store"
)

// maxFindings is the maximum number of findings that one check reports.
const maxFindings = 100

// Finding is a violation of a rule.
type Finding struct {
	// Check is the violated rule.
	Check string
	// What describes the violation.
	What string
}

// String returns the finding in one line.
func (f Finding) String() string { return f.Check + ": " + f.What }

// check is a rule, given as a statement that returns a text for each violation. One
// statement sees the state of one instant, so a check may run while servers run.
type check struct {
	name  string
	query string
	args  []any
}

// Run runs every check. It calls progress with the name of each check before the check,
// and found with each finding.
func Run(ctx context.Context, s *store.Store, keep outbox.Retention, progress func(check string), found func(Finding)) error {
	now, err := s.Clock.Now(ctx, s.Read)
	if err != nil {
		return err
	}
	for _, c := range checks(keep, now) {
		progress(c.name)
		if err := c.run(ctx, s, found); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

func (c check) run(ctx context.Context, s *store.Store, found func(Finding)) error {
	n := 0
	return store.QueryEach(ctx, s.Read, c.query+fmt.Sprintf(" LIMIT %d", maxFindings), c.args, func(scan func(...any) error) error {
		var id, what string
		err := scan(&id, &what)
		if n++; n == maxFindings {
			what += " (there may be more)"
		}
		found(Finding{Check: c.name, What: id + " " + what})
		return err
	})
}

// checks returns all checks.
func checks(keep outbox.Retention, now instant.Instant) []check {
	all := []check{
		{
			"every ban has its events",
			`SELECT ` + pair("b.channel_id", "b.user_id") + `, CONCAT('is a ban without the event ', t.type)
			FROM bans b JOIN (SELECT 'channel.ban' AS type UNION ALL SELECT 'channel.chat.clear_user_messages') t ON 1 = 1
			WHERE b.banned_at > ? AND NOT EXISTS (
				SELECT 1 FROM events e WHERE e.channel_id = b.channel_id AND e.target_id = b.user_id AND e.type = t.type AND e.occurred_at = b.banned_at)`,
			[]any{keptSince(keep, now)},
		},
		{
			"the sequence of a channel has no gap",
			`SELECT ` + hex("c.id") + `, CONCAT('has ', COUNT(e.id), ' events after ', c.trimmed_sequence, ' up to ', c.event_sequence)
			FROM channels c LEFT JOIN events e ON e.channel_id = c.id AND e.sequence > c.trimmed_sequence
			GROUP BY c.id, c.trimmed_sequence, c.event_sequence
			HAVING COUNT(e.id) <> CASE WHEN c.event_sequence > c.trimmed_sequence THEN c.event_sequence - c.trimmed_sequence ELSE 0 END
				OR COALESCE(MAX(e.sequence), 0) > c.event_sequence`,
			nil,
		},
		{
			"events get their position soon",
			`SELECT ` + hex("id") + `, CONCAT('happened at ', occurred_at, ' and has no position') FROM events WHERE position IS NULL AND occurred_at < ?`,
			[]any{now.Add(-time.Minute)},
		},
		{
			"every position is given once",
			`SELECT position, CONCAT('is of ', COUNT(*), ' events') FROM events WHERE position IS NOT NULL GROUP BY position HAVING COUNT(*) > 1`,
			nil,
		},
		{
			"positions are within those given",
			`SELECT ` + hex("e.id") + `, CONCAT('has the position ', e.position) FROM events e JOIN event_sequencers q ON e.position > q.last_position`,
			nil,
		},
		{
			"nobody is ahead of the events",
			`SELECT r.id, CONCAT('is at the position ', r.position, ', which is not given yet')
			FROM (SELECT ` + hex("id") + ` AS id, position FROM webhooks UNION ALL SELECT id, position FROM event_sinks) r
			JOIN event_sequencers q ON r.position > q.last_position`,
			nil,
		},
		{
			"positions follow the sequence of their channel",
			`SELECT ` + hex("a.id") + `, 'has a later position than the event that follows it in its channel'
			FROM events a JOIN events b ON b.channel_id = a.channel_id AND b.sequence = a.sequence + 1
			WHERE b.position < a.position OR (a.position IS NULL AND b.position IS NOT NULL)`,
			nil,
		},
		{
			"a channel is live exactly while it has a stream that has not ended",
			`SELECT ` + hex("c.id") + `, CONCAT('has ', COUNT(s.id), ' streams that have not ended, and is live: ', c.is_live)
			FROM channels c LEFT JOIN streams s ON s.channel_id = c.id AND s.ended_at IS NULL
			GROUP BY c.id, c.is_live, c.live_started_at
			HAVING COUNT(s.id) <> CASE WHEN c.is_live THEN 1 ELSE 0 END OR (c.is_live AND MAX(s.started_at) <> c.live_started_at)`,
			nil,
		},
		{
			"mutes that have lapsed are announced",
			`SELECT ` + pair("channel_id", "user_id") + `, CONCAT('is a mute that lapsed at ', expires_at) FROM mutes WHERE expires_at < ?`,
			[]any{now.Add(-time.Minute)},
		},
		{
			"subscriptions that have ended are swept",
			`SELECT ` + pair("channel_id", "user_id") + `, CONCAT('is a subscription that ended at ', expires_at, ' and is counted')
			FROM subscriptions WHERE is_active AND expires_at < ?`,
			[]any{now.Add(-time.Minute)},
		},
		{
			"the number of channels of a category is that of the rows",
			`SELECT n.id, CONCAT('(twice the category, plus 1 for live) counts ', n.more, ' channels more than there are')
			FROM (SELECT id, SUM(n) AS more FROM (
				SELECT id, count AS n FROM channel_counts
				UNION ALL SELECT count_id, delta FROM channel_count_deltas
				UNION ALL SELECT 2 * category_id + is_live, -1 FROM channels) x GROUP BY id) n
			WHERE n.more <> 0`,
			nil,
		},
	}
	return append(append(all, counters()...), references()...)
}

// keptSince returns the time since which the events of a ban must still exist.
func keptSince(keep outbox.Retention, now instant.Instant) instant.Instant {
	shortest := keep["channel.ban"]
	if clear := keep["channel.chat.clear_user_messages"]; shortest == 0 || (clear > 0 && clear < shortest) {
		shortest = clear
	}
	if shortest == 0 {
		return 0
	}
	return now.Add(-shortest)
}

// counters returns checks that compare each counter of a channel with the rows that it
// counts.
func counters() []check {
	var all []check
	for _, c := range []struct{ column, rows string }{
		{"follower_count", "SELECT COUNT(*) FROM follows r WHERE r.channel_id = c.id"},
		{"subscriber_count", "SELECT COUNT(*) FROM subscriptions r WHERE r.channel_id = c.id AND r.is_active"},
		{"clip_count", "SELECT COUNT(*) FROM clips r WHERE r.channel_id = c.id"},
		{"vod_count", "SELECT COUNT(*) FROM vods r WHERE r.channel_id = c.id"},
		{"new_follower_count", "SELECT COUNT(*) FROM follows r WHERE r.channel_id = c.id AND r.followed_at >= c.live_started_at"},
		{"new_subscriber_count", "SELECT COUNT(*) FROM subscriptions r WHERE r.channel_id = c.id AND r.is_active AND r.subscribed_at >= c.live_started_at"},
	} {
		all = append(all, check{
			name: c.column + " is that of the rows",
			query: `SELECT ` + hex("n.id") + `, CONCAT('has the ` + c.column + ` ', n.kept, ', and there are ', n.counted)
				FROM (SELECT c.id, c.` + c.column + ` AS kept, (` + c.rows + `) AS counted FROM channels c) n WHERE n.kept <> n.counted`,
		})
	}
	return all
}

// references returns checks that the row named by each reference exists. References to
// rows that are being erased are skipped.
func references() []check {
	var all []check
	for _, r := range []struct{ table, column, to string }{
		{"channels", "id", "users"},
		{"follows", "channel_id", "channels"},
		{"follows", "user_id", "users"},
		{"subscriptions", "channel_id", "channels"},
		{"subscriptions", "user_id", "users"},
		{"roles", "channel_id", "channels"},
		{"roles", "user_id", "users"},
		{"bans", "channel_id", "channels"},
		{"bans", "user_id", "users"},
		{"bans", "moderator_id", "users"},
		{"clips", "channel_id", "channels"},
		{"clips", "creator_id", "users"},
		{"vods", "channel_id", "channels"},
		{"streams", "channel_id", "channels"},
		{"votes", "channel_id", "channels"},
		{"activities", "channel_id", "channels"},
		{"events", "channel_id", "channels"},
		{"webhook_deliveries", "webhook_id", "webhooks"},
		{"webhook_deliveries", "channel_id", "channels"},
		{"messages", "channel_id", "channels"},
		{"messages", "user_id", "users"},
	} {
		all = append(all, check{
			name: fmt.Sprintf("%s.%s names one of %s", r.table, r.column, r.to),
			query: fmt.Sprintf(`SELECT %s, 'is named by %s.%s and is not there' FROM %s r
				WHERE NOT EXISTS (SELECT 1 FROM %s x WHERE x.id = r.%s) AND NOT EXISTS (SELECT 1 FROM erasures e WHERE e.id = r.%[6]s)`,
				hex("r."+r.column), r.table, r.column, r.table, r.to, r.column),
		})
	}
	return all
}

func hex(column string) string { return "LOWER(HEX(" + column + "))" }

func pair(channel, user string) string {
	return "CONCAT(" + hex(channel) + ", ' ', " + hex(user) + ")"
}
