package outbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/eventsequencer"
	"github.com/moderato-live/moderato/server/store"
)

// placed is an event and its position.
type placed struct {
	waiting

	position int64
}

// follows reports whether an event directly follows another one in the order of positions
// and in its channel.
func (p placed) follows(q placed) bool {
	return p.channelID == q.channelID && p.sequence == q.sequence+1 && p.position == q.position+1
}

// place assigns the next positions to the rows, in their order. A run of events, such as
// those of a batch of bans, costs one statement.
func place(ctx context.Context, tx *ent.Tx, d *store.Dialect, rows []waiting) error {
	var last int64
	if err := store.QueryRow(ctx, tx, "SELECT last_position FROM event_sequencers WHERE id = ?", []any{theRow}, &last); err != nil {
		return err
	}
	all := make([]placed, len(rows))
	for i, r := range rows {
		all[i] = placed{r, last + int64(i) + 1}
	}
	runs, others := split(all)
	for _, run := range runs {
		if err := placeRun(ctx, tx, d, run); err != nil {
			return fmt.Errorf("give positions: %w", err)
		}
	}
	for some := range slices.Chunk(others, updatedAtOnce) {
		if err := placeEach(ctx, tx, some); err != nil {
			return fmt.Errorf("give positions: %w", err)
		}
	}
	return tx.EventSequencer.Update().Where(eventsequencer.ID(theRow)).SetLastPosition(last + int64(len(rows))).Exec(ctx)
}

// split returns the runs of at least minRun events, and the other events.
func split(all []placed) (runs [][]placed, others []placed) {
	for start := 0; start < len(all); {
		end := start + 1
		for end < len(all) && all[end].follows(all[end-1]) {
			end++
		}
		if run := all[start:end]; len(run) >= minRun {
			runs = append(runs, run)
		} else {
			others = append(others, run...)
		}
		start = end
	}
	return runs, others
}

// placeRun stores the positions of consecutive events of a channel. Every event of the
// channel between the first and the last one is among them.
func placeRun(ctx context.Context, tx *ent.Tx, d *store.Dialect, run []placed) error {
	first, last := run[0], run[len(run)-1]
	_, err := tx.ExecContext(ctx, "UPDATE events"+d.ByIndex("event_channel_id_sequence")+
		" SET position = sequence + ? WHERE channel_id = ? AND sequence BETWEEN ? AND ?",
		first.position-first.sequence, first.channelID, first.sequence, last.sequence)
	return err
}

// placeEach stores the positions of any events.
func placeEach(ctx context.Context, tx *ent.Tx, events []placed) error {
	args := make([]any, 0, 3*len(events))
	for _, e := range events {
		args = append(args, e.id, e.position)
	}
	for _, e := range events {
		args = append(args, e.id)
	}
	_, err := tx.ExecContext(ctx, "UPDATE events SET position = CASE id"+strings.Repeat(" WHEN ? THEN ?", len(events))+
		" END WHERE id IN ("+store.Placeholders(len(events))+")", args...)
	return err
}
