package domain

import (
	"time"

	"github.com/moderato-live/moderato/server/eventtype"
	"github.com/moderato-live/moderato/server/instant"
)

// CheckTime is the time of a run of fsck, and what depends on it.
type CheckTime struct {
	// Now is the time of the run, by the database's clock.
	Now instant.Instant
	// Retention is how long events are kept.
	Retention eventtype.Retention
}

// AMinuteAgo returns the instant before which background work should be done.
func AMinuteAgo(t CheckTime) []any { return []any{t.Now.Add(-time.Minute)} }

// Hex returns the SQL expression for an id as text.
func Hex(column string) string { return "LOWER(HEX(" + column + "))" }

// Pair returns the SQL expression for the key of a row of a channel and user.
func Pair(channel, user string) string {
	return "CONCAT(" + Hex(channel) + ", ' ', " + Hex(user) + ")"
}

// CountCheck returns the check that a counter of channels is the number of the rows that
// it counts. rows is a subquery that counts the rows of the channel c.
func CountCheck(column, rows string) Check {
	return Check{
		Name: column + " is that of the rows",
		Query: `SELECT ` + Hex("n.id") + `, CONCAT('has the ` + column + ` ', n.kept, ', and there are ', n.counted)
			FROM (SELECT c.id, c.` + column + ` AS kept, (` + rows + `) AS counted FROM channels c) n WHERE n.kept <> n.counted`,
	}
}
