package outbox

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/event"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

const (
	// trimInterval is how often to look for expired events.
	trimInterval = time.Minute
	trimBatch    = 500
)

// Trimmer removes expired events, in small transactions. The channel's row records the
// sequence up to which events may be missing, and the sequencer's row records the
// position. A cursor before that is rejected.
type Trimmer struct {
	Store *store.Store
	Keep  eventtype.Retention
}

// Job returns the job that removes expired events.
func (w *Trimmer) Job() jobs.Job {
	return jobs.Job{
		Name: "remove old events", Interval: trimInterval, Run: jobs.All(w.Trim), Backlog: w.countExpired,
	}
}

// countExpired returns the number of expired events, up to jobs.MaxBacklog.
func (w *Trimmer) countExpired(ctx context.Context) (expired int64, err error) {
	now, err := w.Store.Clock.Now(ctx, w.Store.Read)
	if err != nil {
		return 0, err
	}
	for kind, keep := range w.Keep {
		if keep == 0 {
			continue
		}
		n, err := jobs.Count(ctx, w.Store, "SELECT 1 FROM events WHERE "+isExpired, kind, now.Add(-keep))
		if expired += n; err != nil || expired >= jobs.MaxBacklog {
			return min(expired, jobs.MaxBacklog), err
		}
	}
	return expired, nil
}

// isExpired is the SQL condition that an event of a type happened before an instant. Events
// without a position are kept until they have one, because no listener has received them
// yet.
const isExpired = "type = ? AND occurred_at < ? AND position IS NOT NULL"

// Trim removes all expired events.
func (w *Trimmer) Trim(ctx context.Context) error {
	for _, name := range eventtype.Types() {
		kind := eventtype.Type(name)
		if w.Keep[kind] == 0 {
			continue
		}
		for {
			removed, err := w.batch(ctx, kind)
			if err != nil {
				return fmt.Errorf("trim %s: %w", kind, err)
			}
			if removed < trimBatch {
				break
			}
		}
	}
	return nil
}

// old is an event to remove.
type old struct {
	id, channelID      uid.ID
	sequence, position int64
}

func (w *Trimmer) batch(ctx context.Context, kind eventtype.Type) (removed int, err error) {
	now, err := w.Store.Clock.Now(ctx, w.Store.Read)
	if err != nil {
		return 0, err
	}
	before := now.Add(-w.Keep[kind])
	if some, err := w.find(ctx, w.Store.Read, kind, before, 1); err != nil || len(some) == 0 {
		return 0, err // usually nothing has expired, and no transaction is needed
	}
	err = w.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		rows, err := w.find(ctx, tx, kind, before, trimBatch)
		if removed = len(rows); err != nil || removed == 0 {
			return err
		}
		return w.remove(ctx, tx, rows)
	})
	return removed, err
}

// find returns the oldest expired events of a type.
func (w *Trimmer) find(ctx context.Context, q store.Queryer, kind eventtype.Type, before instant.Instant, limit int) ([]old, error) {
	var rows []old
	err := store.QueryEach(ctx, q, `
		SELECT id, channel_id, sequence, position FROM events
		WHERE `+isExpired+` ORDER BY occurred_at LIMIT ?`,
		[]any{kind, before, limit},
		func(scan func(...any) error) error {
			var o old
			err := scan(&o.id, &o.channelID, &o.sequence, &o.position)
			rows = append(rows, o)
			return err
		})
	return rows, err
}

// remove records which events will be missing, and deletes them. It locks the channels
// in the order of their ids, like all other code.
func (w *Trimmer) remove(ctx context.Context, tx *ent.Tx, rows []old) error {
	sequences, position, ids := map[uid.ID]int64{}, int64(0), make([]uid.ID, len(rows))
	for i, o := range rows {
		sequences[o.channelID] = max(sequences[o.channelID], o.sequence)
		position, ids[i] = max(position, o.position), o.id
	}
	channels := make([]uid.ID, 0, len(sequences))
	for id := range sequences {
		channels = append(channels, id)
	}
	slices.SortFunc(channels, func(a, b uid.ID) int { return bytes.Compare(a[:], b[:]) })
	for _, id := range channels {
		_, err := tx.ExecContext(ctx, "UPDATE channels SET trimmed_sequence = ? WHERE id = ? AND trimmed_sequence < ?", sequences[id], id, sequences[id])
		if err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, "UPDATE event_sequencers SET trimmed_position = ? WHERE id = ? AND trimmed_position < ?", position, theRow, position)
	if err != nil {
		return err
	}
	_, err = tx.Event.Delete().Where(event.IDIn(ids...)).Exec(ctx)
	return err
}
