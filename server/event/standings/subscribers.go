package standings

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/predicate"
	"github.com/moderato-live/moderato/ent/standingsubscriber"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

const (
	// incomplete is the position of a chat server that has no complete state.
	incomplete = -1
	// acknowledgeInterval is how often a stream reads an acknowledgement.
	acknowledgeInterval = 50 * time.Millisecond
	// storeInterval is how often acknowledgements are stored, in one transaction for all
	// streams of a process.
	storeInterval = 250 * time.Millisecond
	// storeTimeout bounds how long a new stream waits until it is stored.
	storeTimeout = time.Second
	// renewInterval is how often the row of a stream is renewed, and keepTime is how long
	// the row counts without it.
	renewInterval = 20 * time.Second
	keepTime      = time.Minute
	// rowsPerStatement bounds the rows that one statement writes.
	rowsPerStatement = 100
	// maxDelays is how many delays of a chat server are kept. When there are more, the
	// older half is merged in pairs.
	maxDelays = 64
	// unknown is the delay of changes that a chat server has not measured.
	unknown = -1
)

// delay is how long the changes up to a position took, of which the slowest counts.
type delay struct {
	position     int64
	milliseconds int32
}

// subscriber is the row of a chat server, which the server of its stream writes.
type subscriber struct {
	id       uid.ID
	clientID string
	name     string
	channels *selection

	position int64
	delays   []delay
	isStored bool // the row exists
	isDirty  bool
	isGone   bool // the stream has ended
}

// applied records that a chat server has applied the changes up to a position.
func (s *subscriber) applied(position, milliseconds int64) {
	if position <= s.position {
		return
	}
	if s.position == incomplete {
		milliseconds = unknown // the changes up to here came with the snapshot
	}
	s.position, s.isDirty = position, true
	s.delays = append(s.delays, delay{position, int32(milliseconds)})
	if len(s.delays) > maxDelays {
		s.delays = merge(s.delays)
	}
}

// merge merges the older half of some delays in pairs.
func merge(delays []delay) []delay {
	merged := make([]delay, 0, maxDelays+1)
	half := len(delays) / 4 * 2
	for i := 0; i < half; i += 2 {
		merged = append(merged, delay{delays[i+1].position, max(delays[i].milliseconds, delays[i+1].milliseconds)})
	}
	return append(merged, delays[half:]...)
}

const delaySize = 8 + 4

func encodeDelays(delays []delay) []byte {
	b := make([]byte, 0, len(delays)*delaySize)
	for _, d := range delays {
		b = binary.BigEndian.AppendUint64(b, uint64(d.position))
		b = binary.BigEndian.AppendUint32(b, uint32(d.milliseconds))
	}
	return b
}

// delayOf returns how long the change at a position took, in milliseconds; unknown if the
// chat server did not measure it. encoded is what encodeDelays returned.
func delayOf(encoded []byte, position int64) int64 {
	for ; len(encoded) >= delaySize; encoded = encoded[delaySize:] {
		if int64(binary.BigEndian.Uint64(encoded)) >= position {
			return int64(int32(binary.BigEndian.Uint32(encoded[8:])))
		}
	}
	return unknown
}

// subscribers are the chat servers with streams to this process.
type subscribers struct {
	db      *store.Store
	metrics *metrics

	storing   sync.Mutex
	renewedAt time.Time // used with storing held

	mu   sync.Mutex
	byID map[uid.ID]*subscriber
}

func (s *subscribers) job() jobs.Job {
	return jobs.Job{Name: "store acknowledgements of standings", Interval: storeInterval, Run: jobs.All(s.flush), Stop: func(ctx context.Context) { _ = s.flush(ctx) }}
}

// add adds a chat server that has applied all changes up to a position. It stores its row,
// unless that takes too long: a stream must not depend on a write.
func (s *subscribers) add(ctx context.Context, log *slog.Logger, clientID, name string, channels *selection, position int64) *subscriber {
	sub := &subscriber{id: uid.New(), clientID: clientID, name: name, channels: channels, position: position, isDirty: true}
	if position != incomplete {
		sub.delays = []delay{{position, unknown}}
	}
	s.mu.Lock()
	s.byID[sub.id] = sub
	s.metrics.streams.Set(float64(len(s.byID)))
	s.mu.Unlock()
	if !s.storing.TryLock() {
		return sub // the job stores it
	}
	defer s.storing.Unlock()
	within, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	if err := s.store(within); err != nil {
		log.WarnContext(ctx, "a subscriber of standings could not be stored; it will be tried again", "error", err)
	}
	return sub
}

func (s *subscribers) remove(sub *subscriber) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sub.isGone = true
	if !sub.isDirty {
		s.forget(sub)
	}
}

// forget forgets a chat server. The caller must hold mu.
func (s *subscribers) forget(sub *subscriber) {
	delete(s.byID, sub.id)
	s.metrics.streams.Set(float64(len(s.byID)))
}

// acknowledge records what a chat server has applied.
func (s *subscribers) acknowledge(sub *subscriber, position, milliseconds int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sub.applied(position, milliseconds)
	if milliseconds > 0 {
		s.metrics.applied.Observe(float64(milliseconds) / 1000)
	}
}

// flush stores what has changed.
func (s *subscribers) flush(ctx context.Context) error {
	s.storing.Lock()
	defer s.storing.Unlock()
	return s.store(ctx)
}

// store is flush for a caller that holds storing.
func (s *subscribers) store(ctx context.Context) error {
	isRenewal := time.Since(s.renewedAt) >= renewInterval
	changed := s.changed(isRenewal)
	for some := range slices.Chunk(changed, rowsPerStatement) {
		err := s.db.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error { return s.write(ctx, tx, some) })
		if err != nil {
			return fmt.Errorf("store subscribers of standings: %w", err)
		}
		s.stored(some)
	}
	if isRenewal {
		s.renewedAt = time.Now()
	}
	return nil
}

// changed returns copies of the rows to write.
func (s *subscribers) changed(all bool) (rows []subscriber) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sub := range s.byID {
		if all || sub.isDirty {
			row := *sub
			row.delays = slices.Clone(sub.delays)
			rows = append(rows, row)
		}
	}
	// In one order on all servers, so that transactions do not wait for each other.
	slices.SortFunc(rows, func(a, b subscriber) int { return compareIDs(a.id, b.id) })
	return rows
}

// stored records that rows were written.
func (s *subscribers) stored(rows []subscriber) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range rows {
		sub := s.byID[row.id]
		if sub == nil {
			continue
		}
		sub.isStored, sub.isDirty = true, sub.position != row.position
		if sub.isGone && !sub.isDirty {
			s.forget(sub)
		}
	}
}

func (s *subscribers) write(ctx context.Context, tx *ent.Tx, rows []subscriber) error {
	now, err := s.db.Clock.Now(ctx, tx)
	if err != nil {
		return err
	}
	until := now.Add(keepTime)
	var existing []subscriber
	for _, row := range rows {
		if row.isStored {
			existing = append(existing, row)
		} else if err := create(ctx, tx, row, until); err != nil {
			return err
		}
	}
	if len(existing) == 0 {
		return nil
	}
	return update(ctx, tx, existing, until)
}

// create stores the row of a new stream. It replaces that of an earlier stream of the same
// chat server, or the row itself if the outcome of a COMMIT was unknown. The ids of streams
// are in the order of their beginnings, so a later stream keeps its row.
func create(ctx context.Context, tx *ent.Tx, row subscriber, until instant.Instant) error {
	sameName := []predicate.StandingSubscriber{standingsubscriber.ClientID(row.clientID), standingsubscriber.Name(row.name)}
	later, err := tx.StandingSubscriber.Query().Where(append(sameName, standingsubscriber.IDGT(row.id))...).Exist(ctx)
	if err != nil || later {
		return err
	}
	if _, err := tx.StandingSubscriber.Delete().Where(sameName...).Exec(ctx); err != nil {
		return err
	}
	return tx.StandingSubscriber.Create().SetID(row.id).SetClientID(row.clientID).SetName(row.name).
		SetHearsAll(row.channels.isEverything()).SetChannelIds(joined(row.channels.ids)).
		SetPosition(row.position).SetDelays(encodeDelays(row.delays)).SetExpiresAt(until).
		Exec(ctx)
}

// update writes the rows of streams, unless a later stream of the same chat server has
// replaced them.
func update(ctx context.Context, tx *ent.Tx, rows []subscriber, until instant.Instant) error {
	args := make([]any, 0, 5*len(rows)+1)
	for _, row := range rows {
		args = append(args, row.id, row.position)
	}
	for _, row := range rows {
		args = append(args, row.id, encodeDelays(row.delays))
	}
	args = append(args, until)
	for _, row := range rows {
		args = append(args, row.id)
	}
	cases := strings.Repeat(" WHEN ? THEN ?", len(rows))
	_, err := tx.ExecContext(ctx, "UPDATE standing_subscribers SET position = CASE id"+cases+" END, delays = CASE id"+cases+
		" END, expires_at = ? WHERE id IN ("+store.Placeholders(len(rows))+")", args...)
	return err
}
