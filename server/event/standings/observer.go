package standings

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

const (
	// observeInterval is how often a server that has streams looks for what no event
	// reports, and confirms that the streams miss nothing.
	observeInterval = 250 * time.Millisecond
	// lateCommit is how much later than its time a deletion may be committed.
	lateCommit = time.Minute
	// maxGap is the longest time between two looks. The row of an erasure exists for twice
	// that time at least.
	maxGap = time.Minute
	// lookTimeout bounds a look, for which new streams wait.
	lookTimeout = 5 * time.Second
	// idsAtOnce bounds the ids that one statement names.
	idsAtOnce = 500
)

// errGap ends the streams of a server that did not look for too long, and of any server after
// an import of bans, mutes or roles: a stream that begins again gets a snapshot.
var errGap = errors.New("changes may have been missed")

// state is what a server knows about all streams at one time.
type state struct {
	outbox.Positions
	// now is the time by the database's clock, and at by this process's, when the state was
	// read.
	now instant.Instant
	at  time.Time
	// asOf is the time up to which every committed change has a position, which is at most
	// Last.
	asOf instant.Instant
	// checks are the channels in which messages are examined, and until when.
	checks map[uid.ID]instant.Instant
}

// forever is the end of the check of messages in a channel whose settings restrict posts: the
// last millisecond of the year 9999.
const forever instant.Instant = 253402300799999

// present returns the time by the database's clock.
func (s *state) present() instant.Instant { return s.now.Add(time.Since(s.at)) }

// deletion is a user or channel that was deleted. With a user, the user's channel is.
type deletion struct {
	id     uid.ID
	isUser bool
}

// observer looks for what changes standings without an event, for all streams of a process:
// erasures, channels that are created, the afterglows of sweeps, and the modes of chats.
type observer struct {
	store *store.Store

	looking *semaphore.Weighted          // of one
	last    *state                       // nil while there were no streams; used with looking held
	told    map[deletion]instant.Instant // deletions that were told, with their times; used with looking held
	modes   modes                        // used with looking held
	erased  erased

	mu      sync.Mutex
	streams map[*stream]struct{}
	// imported is whether the latest look found another import; used with looking held.
	imported bool
}

func newObserver(s *store.Store) *observer {
	return &observer{store: s, looking: semaphore.NewWeighted(1), streams: map[*stream]struct{}{}}
}

// Job returns the job that looks for changes without an event.
func (o *observer) job() jobs.Job {
	return jobs.Job{Name: "observe standings", Interval: observeInterval, Run: jobs.All(o.look)}
}

// join adds a stream, and returns the present state. The stream is told of everything that
// follows.
func (o *observer) join(ctx context.Context, s *stream) (*state, error) {
	o.mu.Lock()
	o.streams[s] = struct{}{}
	o.mu.Unlock()
	if err := o.look(ctx); err != nil {
		o.leave(s)
		return nil, o.store.Classify(err)
	}
	present := s.present()
	if present == nil { // the look ended all streams instead of telling them
		o.leave(s)
		return nil, errGap
	}
	return present, nil
}

func (o *observer) leave(s *stream) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.streams, s)
}

func (o *observer) all() []*stream {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Collect(maps.Keys(o.streams))
}

// look reads the present state and tells the streams.
func (o *observer) look(ctx context.Context) error {
	if err := o.looking.Acquire(ctx, 1); err != nil {
		return err
	}
	defer o.looking.Release(1)
	// A look is for all streams, and does not end with the one that joins.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	defer cancel()
	streams := o.all()
	if len(streams) == 0 {
		o.last, o.modes = nil, modes{}
		return nil
	}
	next, err := o.read(ctx)
	if err != nil {
		return err
	}
	deleted, err := o.deletions(ctx, next)
	if errors.Is(err, errGap) {
		o.last = nil
		for _, s := range streams {
			s.end(err)
		}
		return nil
	}
	if err != nil {
		return err
	}
	if err := o.updateErased(ctx, next.at, deleted); err != nil {
		return err
	}
	for d := range deleted {
		delete(o.modes.channels, d.id)
		delete(next.checks, d.id)
	}
	existing, err := o.existing(ctx, streams)
	if err != nil {
		return err
	}
	o.last = next
	for _, s := range streams {
		s.tell(next, slices.Collect(maps.Keys(deleted)), existing)
	}
	maps.Copy(o.told, deleted)
	return nil
}

// read reads the state. The order matters: an event that was committed before now is either
// waiting when the waiting ones are read, or has a position when the positions are.
func (o *observer) read(ctx context.Context) (*state, error) {
	s := &state{at: time.Now(), checks: map[uid.ID]instant.Instant{}}
	var err error
	if s.now, err = o.store.Clock.Now(ctx, o.store.Read); err != nil {
		return nil, err
	}
	s.asOf = s.now
	var waiting instant.Instant
	err = store.QueryRow(ctx, o.store.Read, "SELECT occurred_at FROM events WHERE position IS NULL ORDER BY occurred_at"+store.Limit(1), nil, &waiting)
	if err == nil {
		s.asOf = min(s.asOf, waiting-1)
	} else if !errors.Is(err, store.ErrNoRows) {
		return nil, err
	}
	if s.Positions, err = outbox.ReadPositions(ctx, o.store.Read); err != nil {
		return nil, err
	}
	err = store.QueryEach(ctx, o.store.Read, "SELECT channel_id, MAX(afterglow_until) FROM sweeps WHERE afterglow_until > ? GROUP BY channel_id", []any{s.now},
		func(scan func(...any) error) error {
			var id uid.ID
			var until instant.Instant
			err := scan(&id, &until)
			s.checks[id] = until
			return err
		})
	if err == nil {
		err = o.modes.read(ctx, o.store, s.now)
	}
	for id := range o.modes.channels {
		s.checks[id] = forever
	}
	return s, err
}

// deletions returns the users and channels that were deleted and were not told yet, with
// their times. A deletion counts as a rewrite of events in its transaction, so rows that are
// read after the count have every deletion that it counts.
func (o *observer) deletions(ctx context.Context, next *state) (map[deletion]instant.Instant, error) {
	if o.last == nil {
		o.told, o.imported = map[deletion]instant.Instant{}, false
		return nil, nil
	}
	// An import of many batches ends the streams once, when it is over.
	wasImported := o.imported
	if o.imported = next.Imports != o.last.Imports; wasImported && !o.imported {
		return nil, errGap
	}
	if next.Rewrites == o.last.Rewrites {
		return nil, nil
	}
	if next.at.Sub(o.last.at) > maxGap {
		return nil, errGap
	}
	found := map[deletion]instant.Instant{}
	since := o.last.now.Add(-lateCommit)
	maps.DeleteFunc(o.told, func(_ deletion, at instant.Instant) bool { return at < since })
	err := store.QueryEach(ctx, o.store.Read, "SELECT id, is_user, requested_at FROM erasures WHERE requested_at >= ?", []any{since},
		func(scan func(...any) error) error {
			var d deletion
			var at instant.Instant
			err := scan(&d.id, &d.isUser, &at)
			if o.told[d] != at {
				found[d] = at
			}
			return err
		})
	return found, err
}

// existing returns which of the channels that the streams miss exist.
func (o *observer) existing(ctx context.Context, streams []*stream) (map[uid.ID]bool, error) {
	missing := map[uid.ID]bool{}
	for _, s := range streams {
		s.addMissing(missing)
	}
	return existingChannels(ctx, o.store, slices.Collect(maps.Keys(missing)))
}

// existingChannels returns which of some channels exist.
func existingChannels(ctx context.Context, s *store.Store, ids []uid.ID) (map[uid.ID]bool, error) {
	existing := map[uid.ID]bool{}
	for some := range slices.Chunk(ids, idsAtOnce) {
		err := store.QueryEach(ctx, s.Read, "SELECT id FROM channels WHERE id IN ("+store.Placeholders(len(some))+")", store.Args(some),
			func(scan func(...any) error) error {
				var id uid.ID
				err := scan(&id)
				existing[id] = true
				return err
			})
		if err != nil {
			return nil, err
		}
	}
	return existing, nil
}

// barrier is a place in the order of events by which all events are delivered that were
// committed when it was read.
type barrier struct {
	position int64
	// sequences are those of the latest events without a position, by channel.
	sequences map[uid.ID]int64
}

// readBarrier reads the barrier for events of some types. The events without a position are
// read first: any other event has a position by then.
func (o *observer) readBarrier(ctx context.Context, wants func(uid.ID) bool) (*barrier, error) {
	b := &barrier{sequences: map[uid.ID]int64{}}
	err := store.QueryEach(ctx, o.store.Read, "SELECT channel_id, type, sequence FROM events WHERE position IS NULL", nil, func(scan func(...any) error) error {
		var channelID uid.ID
		var kind eventtype.Type
		var sequence int64
		err := scan(&channelID, &kind, &sequence)
		if _, isChange := effects[kind]; isChange && wants(channelID) {
			b.sequences[channelID] = max(b.sequences[channelID], sequence)
		}
		return err
	})
	if err != nil {
		return nil, o.store.Classify(err)
	}
	at, err := outbox.ReadPositions(ctx, o.store.Read)
	b.position = at.Last
	return b, o.store.Classify(err)
}

// pass records that a channel's events were delivered up to a sequence.
func (b *barrier) pass(channelID uid.ID, sequence int64) {
	if at, isWaiting := b.sequences[channelID]; isWaiting && at <= sequence {
		delete(b.sequences, channelID)
	}
}

// isPassed reports whether all events were delivered, given the position up to which they
// were.
func (b *barrier) isPassed(position int64) bool {
	return position >= b.position && len(b.sequences) == 0
}
