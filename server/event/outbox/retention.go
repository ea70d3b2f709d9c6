package outbox

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
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
	// trimRest bounds the rest after a batch.
	trimRest = time.Second
)

// Trimmer removes expired events, in small transactions. The channel's row records the
// sequence up to which events may be missing, and the sequencer's row records the
// position. A cursor before that is rejected.
type Trimmer struct {
	store   *store.Store
	keep    eventtype.Retention
	lease   *jobs.Lease
	types   []eventtype.Type // that remain in this round
	removed atomic.Int64
}

// NewTrimmer returns a Trimmer that keeps the events of each type for a time.
func NewTrimmer(s *store.Store, log *slog.Logger, keep eventtype.Retention) *Trimmer {
	return &Trimmer{store: s, keep: keep, lease: jobs.NewLease(s, log, "retentions", "events")}
}

// Job returns the job that removes expired events.
func (w *Trimmer) Job() jobs.Job {
	return jobs.Job{
		Name: "remove old events", Interval: trimInterval, MaxRest: trimRest, Lease: w.lease,
		Run: w.Trim, Behind: w.behind, Removed: &w.removed, Stop: w.lease.Release,
	}
}

// isExpired is the SQL condition that an event of a type happened before an instant. Events
// without a position are kept until they have one, because no listener has received them
// yet.
const isExpired = "type = ? AND occurred_at < ? AND position IS NOT NULL"

// behind returns for how long the event that expired first has been expired.
func (w *Trimmer) behind(ctx context.Context) (time.Duration, error) {
	now, err := w.store.Clock.Now(ctx, w.store.Read)
	if err != nil {
		return 0, err
	}
	var parts []string
	var args []any
	for _, kind := range w.kept() {
		parts = append(parts, "SELECT * FROM (SELECT ? - occurred_at AS late FROM events WHERE "+isExpired+" ORDER BY occurred_at LIMIT 1) AS t")
		before := now.Add(-w.keep[kind])
		args = append(args, before, kind, before)
	}
	if len(parts) == 0 {
		return 0, nil
	}
	var late int64
	err = store.QueryRow(ctx, w.store.Read, "SELECT COALESCE(MAX(late), 0) FROM ("+strings.Join(parts, " UNION ALL ")+") AS oldest", args, &late)
	return time.Duration(late) * time.Millisecond, err
}

// kept returns the types whose events expire.
func (w *Trimmer) kept() []eventtype.Type {
	var kinds []eventtype.Type
	for _, name := range eventtype.Types() {
		if kind := eventtype.Type(name); w.keep[kind] > 0 {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// Trim removes a batch of expired events. It reports whether there may be more. It does nothing
// if another server holds the lease.
func (w *Trimmer) Trim(ctx context.Context) (more bool, err error) {
	if held, err := w.lease.Take(ctx); err != nil || !held {
		return false, err
	}
	if len(w.types) == 0 {
		w.types = w.kept()
	}
	for ; len(w.types) > 0; w.types = w.types[1:] {
		removed, held, err := w.batch(ctx, w.types[0])
		if err != nil || !held {
			return false, err
		}
		if removed > 0 {
			w.removed.Add(int64(removed))
			return true, nil
		}
	}
	return false, nil
}

// old is an event to remove.
type old struct {
	id, channelID      uid.ID
	sequence, position int64
}

// batch removes some expired events of a type, if this server still holds the lease.
func (w *Trimmer) batch(ctx context.Context, kind eventtype.Type) (removed int, held bool, err error) {
	now, err := w.store.Clock.Now(ctx, w.store.Read)
	if err != nil {
		return 0, false, err
	}
	before := now.Add(-w.keep[kind])
	if some, err := w.find(ctx, w.store.Read, kind, before, 1); err != nil || len(some) == 0 {
		return 0, true, err // usually nothing has expired, and no transaction is needed
	}
	held, err = w.lease.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ instant.Instant) error {
		rows, err := w.find(ctx, tx, kind, before, trimBatch)
		if removed = len(rows); err != nil || removed == 0 {
			return err
		}
		return w.remove(ctx, tx, rows)
	})
	if err != nil {
		err = fmt.Errorf("trim %s: %w", kind, err)
	}
	return removed, held, err
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
