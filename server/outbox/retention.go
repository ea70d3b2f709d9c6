package outbox

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/event"
	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/jobs"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

const (
	// trimInterval is how often to look for expired events.
	trimInterval = time.Minute
	trimBatch    = 500

	day = 24 * time.Hour
	// The log of bans and roles is kept longest.
	keepModeration = 730 * day
	keepAudience   = 90 * day
)

// Retention holds how long events are kept, by type; 0 is forever.
type Retention map[Type]time.Duration

// DefaultRetention returns the default: two years for the actions of moderators and
// owners, and 90 days for those of the audience and for streams.
func DefaultRetention() Retention {
	r := Retention{}
	for _, t := range types {
		if t.GetLive() {
			continue
		}
		r[Type(t.GetName())] = keepModeration
		if t.GetOrigin() == optionsv1.Origin_ORIGIN_AUDIENCE {
			r[Type(t.GetName())] = keepAudience
		}
	}
	return r
}

// ParseRetention returns a copy of base with the changes in text: TYPE=DURATION,
// separated by commas or spaces. The type `default` changes every type. A duration is a
// Go duration, or a number of days: 90d.
func ParseRetention(base Retention, text string) (Retention, error) {
	r := Retention{}
	for kind, keep := range base {
		r[kind] = keep
	}
	for _, part := range strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' }) {
		name, value, _ := strings.Cut(part, "=")
		keep, err := parseDays(value)
		switch {
		case err != nil || keep < 0:
			return nil, fmt.Errorf("%q: must be TYPE=DURATION, such as channel.follow=30d or channel.ban=0", part)
		case name == "default":
			for kind := range r {
				r[kind] = keep
			}
		case !slices.Contains(Types(), name):
			return nil, fmt.Errorf("%q: there is no type %q; there are %s", part, name, strings.Join(Types(), ", "))
		default:
			r[Type(name)] = keep
		}
	}
	return r, nil
}

func parseDays(text string) (time.Duration, error) {
	if number, isDays := strings.CutSuffix(text, "d"); isDays {
		hours, err := time.ParseDuration(number + "h")
		if hours > (1<<63-1)/24 {
			return 0, fmt.Errorf("%s is too long", text)
		}
		return 24 * hours, err
	}
	return time.ParseDuration(text)
}

// Trimmer removes expired events, in small transactions. The channel's row records the
// sequence up to which events may be missing, and the sequencer's row records the
// position. A cursor before that is rejected.
type Trimmer struct {
	Store *store.Store
	Keep  Retention
}

// Job returns the job that removes expired events.
func (w *Trimmer) Job() jobs.Job {
	return jobs.Job{
		Name: "remove old events", Interval: trimInterval,
		Run: func(ctx context.Context, _ jobs.Env) error { return w.Trim(ctx) },
	}
}

// Trim removes all expired events.
func (w *Trimmer) Trim(ctx context.Context) error {
	for _, t := range types {
		if w.Keep[Type(t.GetName())] == 0 {
			continue
		}
		for {
			removed, err := w.batch(ctx, Type(t.GetName()))
			if err != nil {
				return fmt.Errorf("trim %s: %w", Type(t.GetName()), err)
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

func (w *Trimmer) batch(ctx context.Context, kind Type) (removed int, err error) {
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

// find returns the oldest events of a type from before an instant. Events without a
// position are kept until they have one, because no listener has received them yet.
func (w *Trimmer) find(ctx context.Context, q store.Queryer, kind Type, before instant.Instant, limit int) ([]old, error) {
	var rows []old
	err := store.QueryEach(ctx, q, `
		SELECT id, channel_id, sequence, position FROM events
		WHERE type = ? AND occurred_at < ? AND position IS NOT NULL ORDER BY occurred_at LIMIT ?`,
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
