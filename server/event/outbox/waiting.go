package outbox

import (
	"context"
	"slices"
	"strings"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
)

// waiting is an event without a position.
type waiting struct {
	id, channelID uid.ID
	sequence      int64
	occurredAt    instant.Instant
	traceparent   string // see Event; read only if the store is traced
}

// finder finds events without a position in a transaction.
type finder struct {
	tx       *ent.Tx
	isTraced bool
}

// findWaiting returns the oldest events without a position, and whether there may be
// more. The events of each channel are in their sequence.
func (f finder) findWaiting(ctx context.Context) (rows []waiting, more bool, err error) {
	rows, err = f.scan(ctx, "position IS NULL ORDER BY occurred_at, channel_id, sequence LIMIT ?", sequenceBatch)
	inOrder(rows)
	if err != nil || len(rows) < sequenceBatch {
		return rows, false, err // the rows are all waiting events
	}
	rows, err = f.replaceEarly(ctx, rows)
	return rows, true, err
}

// scan returns the rows that match a condition. An index has the columns of an untraced
// store.
func (f finder) scan(ctx context.Context, where string, args ...any) ([]waiting, error) {
	columns := "id, channel_id, sequence, occurred_at"
	if f.isTraced {
		columns += ", COALESCE(traceparent, '')"
	}
	var rows []waiting
	err := store.QueryEach(ctx, f.tx, "SELECT "+columns+" FROM events WHERE "+where, args,
		func(scan func(...any) error) error {
			var w waiting
			to := []any{&w.id, &w.channelID, &w.sequence, &w.occurredAt}
			if f.isTraced {
				to = append(to, &w.traceparent)
			}
			err := scan(to...)
			rows = append(rows, w)
			return err
		})
	return rows, err
}

// inOrder sorts the events of each channel by sequence, within the places that the
// channel has in the list. A clock that was set back must not reverse them.
func inOrder(rows []waiting) {
	places := map[uid.ID][]int{}
	for i, r := range rows {
		places[r.channelID] = append(places[r.channelID], i)
		of := places[r.channelID]
		// Insert the row among its channel's places, by sequence.
		for j := len(of) - 1; j > 0 && rows[of[j]].sequence < rows[of[j-1]].sequence; j-- {
			rows[of[j]], rows[of[j-1]] = rows[of[j-1]], rows[of[j]]
		}
	}
}

// replaceEarly removes the channels that have an event among the rows while an
// earlier event without a position is not among them. This can only happen in a full
// batch, after a clock was set back. The earlier events of these channels replace the
// removed rows, so that every batch makes progress.
func (f finder) replaceEarly(ctx context.Context, rows []waiting) ([]waiting, error) {
	early, err := f.findEarly(ctx, rows)
	if err != nil || len(early) == 0 {
		return rows, err
	}
	rows = slices.DeleteFunc(rows, func(r waiting) bool { return early[r.channelID] > 0 })
	for channelID, sequence := range early {
		if len(rows) >= 2*sequenceBatch {
			break
		}
		before, err := f.scan(ctx, `channel_id = ? AND sequence < ? AND sequence > COALESCE((
				SELECT e.sequence FROM events e WHERE e.channel_id = ? AND e.sequence < ? AND e.position IS NOT NULL
				ORDER BY e.sequence DESC LIMIT 1), 0)
			ORDER BY sequence LIMIT ?`, channelID, sequence, channelID, sequence, sequenceBatch)
		if err != nil {
			return nil, err
		}
		rows = append(rows, before...)
	}
	return rows, nil
}

// findEarly returns, by channel, the sequence of the first row whose predecessor has no
// position and is not among the rows.
func (f finder) findEarly(ctx context.Context, rows []waiting) (map[uid.ID]int64, error) {
	last, early := map[uid.ID]int64{}, map[uid.ID]int64{}
	var after []waiting // rows whose predecessor is not among the rows
	for _, r := range rows {
		if last[r.channelID] != r.sequence-1 {
			after = append(after, r)
		}
		last[r.channelID] = r.sequence
	}
	for some := range slices.Chunk(after, updatedAtOnce) {
		args := make([]any, 0, 2*len(some))
		for _, r := range some {
			args = append(args, r.channelID, r.sequence-1)
		}
		missing, err := f.scan(ctx, "position IS NULL AND ("+
			strings.TrimPrefix(strings.Repeat(" OR (channel_id = ? AND sequence = ?)", len(some)), " OR ")+")", args...)
		if err != nil {
			return nil, err
		}
		for _, m := range missing {
			if first := early[m.channelID]; first == 0 || m.sequence+1 < first {
				early[m.channelID] = m.sequence + 1
			}
		}
	}
	return early, nil
}
