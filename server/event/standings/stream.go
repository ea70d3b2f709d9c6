package standings

import (
	"context"
	"slices"
	"sync"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// maxNotes is how many deletions may wait for a stream that does not keep up.
	maxNotes = 10_000
	// fewChannels is up to how many channels a stream that catches up reads the events of
	// these channels alone, and not those of all.
	fewChannels = 20
	// maxSilence is how long a stream sends nothing. The contract promises a response every
	// 2 s.
	maxSilence = 1500 * time.Millisecond
	// confirmInterval is the time between two responses that only confirm. The observer looks
	// more often.
	confirmInterval = time.Second
)

// selection holds the channels of a stream.
type selection struct {
	ids   []uid.ID // sorted; nil for every channel
	names map[uid.ID]bool
}

func newSelection(ids []uid.ID) *selection {
	s := &selection{ids: ids}
	if ids != nil {
		slices.SortFunc(s.ids, compareIDs)
		s.ids = slices.Compact(s.ids)
		s.names = make(map[uid.ID]bool, len(s.ids))
		for _, id := range s.ids {
			s.names[id] = true
		}
	}
	return s
}

func compareIDs(a, b uid.ID) int { return slices.Compare(a[:], b[:]) }

// isEverything reports whether the selection has every channel.
func (s *selection) isEverything() bool { return s.names == nil }

// has reports whether the selection has a channel.
func (s *selection) has(id uid.ID) bool { return s.names == nil || s.names[id] }

// events returns which events to read while catching up.
func (s *selection) events() *watch.Selection {
	if len(s.ids) > fewChannels {
		return &watch.Selection{Types: types}
	}
	return &watch.Selection{Channels: s.ids, Types: types}
}

// digest identifies the channels in a cursor.
func (s *selection) digest() string {
	if s.isEverything() {
		return "*"
	}
	return digestOf(s.ids)
}

// stream is an open stream.
type stream struct {
	*Service

	channels   *selection
	events     *watch.Selection
	digest     string
	subscriber *subscriber
	from       *watch.Subscription
	who        *watch.Listener
	send       func(*platformv1.WatchStandingsResponse) error
	// end ends the stream with an error.
	end context.CancelCauseFunc
	// wake wakes the stream when it is told something.
	wake store.Signal

	mu      sync.Mutex
	state   *state
	notes   []note
	missing map[uid.ID]bool // channels of the selection that do not exist

	// sending is held while a response is sent.
	sending sync.Mutex
	sentAt  time.Time // when the latest response was sent
	cursor  string    // the latest cursor

	// The rest is for the goroutine of the stream.
	rewrites   int64    // the deletions that were sent
	imports    int64    // the imports that the snapshot has, or that the cursor had
	barrier    *barrier // nil once the state of the chat server is complete
	sentChecks map[uid.ID]instant.Instant
	// sentMissing are the channels of the selection that do not exist, as the chat server
	// was told.
	sentMissing map[uid.ID]bool
	// placed is what cursors have of sentChecks and sentMissing; nil after they changed.
	placed      *place
	confirmed   *state // the latest state that a message confirmed
	confirmedAt time.Time
}

// present returns what the stream was told last.
func (s *stream) present() *state {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// addMissing adds the channels that the stream misses.
func (s *stream) addMissing(to map[uid.ID]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.missing {
		to[id] = true
	}
}

// note is a deletion, or a channel that was created, for a stream to send.
type note struct {
	deletion

	isCreation bool
}

// tell tells the stream what an observer found.
func (s *stream) tell(next *state, deleted []deletion, existing map[uid.ID]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = next
	for id := range s.missing {
		if existing[id] {
			s.notes = append(s.notes, note{deletion{id: id}, true})
			delete(s.missing, id)
		}
	}
	for _, d := range deleted {
		if d.isUser || s.channels.has(d.id) {
			s.notes = append(s.notes, note{d, false})
		}
		if s.channels.names[d.id] {
			s.missing[d.id] = true
		}
	}
	if len(s.notes) > maxNotes {
		s.end(watch.ErrTooSlow)
	}
	s.wake.Raise()
}

// take returns what the stream was told since it last asked.
func (s *stream) take() (*state, []note) {
	s.mu.Lock()
	defer s.mu.Unlock()
	notes := s.notes
	s.notes = nil
	return s.state, notes
}

// run sends changes until ctx ends.
func (s *stream) run(ctx context.Context) error {
	for {
		m := &platformv1.WatchStandingsResponse{}
		if err := s.addEvents(ctx, m); err != nil {
			return err
		}
		present := s.addOthers(m)
		if s.barrier != nil && s.barrier.isPassed(s.from.Position()) {
			s.barrier, m.IsComplete = nil, true
		}
		mayConfirm := s.barrier == nil && present != s.confirmed && time.Since(s.confirmedAt) >= confirmInterval && s.from.Position() >= present.Last
		if len(m.GetChanges()) == 0 && !m.GetIsComplete() && !mayConfirm {
			continue
		}
		if err := s.sendAt(ctx, m, present); err != nil {
			return err
		}
	}
}

// addEvents waits for events and adds their changes.
func (s *stream) addEvents(ctx context.Context, m *platformv1.WatchStandingsResponse) error {
	for {
		at := s.from.Position()
		page, err := s.from.Next(ctx, nil)
		if err != nil {
			return err
		}
		if s.from.IsOutdated() && len(page) > 0 {
			s.from.GoBack(at)
			continue
		}
		for _, e := range page {
			if !s.channels.has(e.ChannelID) {
				continue
			}
			if s.barrier != nil {
				s.barrier.pass(e.ChannelID, e.Message.GetMetadata().GetSequence())
			}
			if effects[e.Type].kind == messageCheck {
				// The chat server may know of an earlier state that this process has not seen.
				s.setCheck(e.ChannelID, unknownEnd)
			}
			if c := changeOf(e); c != nil && !s.observer.erased.has(e) {
				m.Changes = append(m.Changes, c)
			}
		}
		return nil
	}
}

// addOthers adds the changes that no event reports, and returns the state that has them.
func (s *stream) addOthers(m *platformv1.WatchStandingsResponse) *state {
	present, notes := s.take()
	for _, n := range notes {
		if n.isCreation {
			m.Changes = append(m.Changes, ofChannel(channelCreated, n.id))
			s.setMissing(n.id, false)
		} else {
			s.addDeletion(m, n.deletion)
		}
	}
	s.rewrites = present.Rewrites
	for id, until := range present.checks {
		if s.channels.has(id) && s.sentChecks[id] != until {
			s.addCheck(m, id, until)
		}
	}
	for id := range s.sentChecks {
		if present.checks[id] == 0 {
			s.addCheck(m, id, 0)
		}
	}
	return present
}

func (s *stream) addDeletion(m *platformv1.WatchStandingsResponse, d deletion) {
	if d.isUser {
		m.Changes = append(m.Changes, ofUser(userErased, d.id))
	}
	if s.channels.has(d.id) {
		m.Changes = append(m.Changes, ofChannel(channelDeleted, d.id))
		s.setMissing(d.id, true)
		s.setCheck(d.id, 0)
		if s.barrier != nil {
			delete(s.barrier.sequences, d.id)
		}
	}
}

func (s *stream) addCheck(m *platformv1.WatchStandingsResponse, id uid.ID, until instant.Instant) {
	c := ofChannel(messageCheck, id)
	c.ExpiresAt = int64(until)
	m.Changes = append(m.Changes, c)
	s.setCheck(id, until)
}

// sendAt sends a message with the cursor of the present position, and confirms that nothing
// is missing if present says so. While the state of the chat server is not complete, there
// is no cursor.
func (s *stream) sendAt(ctx context.Context, m *platformv1.WatchStandingsResponse, present *state) error {
	m.ServerTime = int64(present.present())
	for len(m.GetChanges()) > rowsAtOnce { // so that a gRPC client accepts the messages by default
		part := &platformv1.WatchStandingsResponse{ServerTime: m.GetServerTime(), Changes: m.GetChanges()[:rowsAtOnce]}
		if err := s.deliver(ctx, part, present); err != nil {
			return err
		}
		m.Changes = m.GetChanges()[rowsAtOnce:]
	}
	if s.barrier == nil {
		position := s.from.Position()
		var err error
		m.Cursor, err = s.Watching.Hub.Store.Cursors.Seal(ctx, cursorList, s.place(position))
		if err != nil {
			return err
		}
		if position >= present.Last {
			m.AsOf = int64(present.asOf)
			s.confirmed, s.confirmedAt = present, time.Now()
		}
	}
	return s.deliver(ctx, m, present)
}

// deliver sends a message if the chat server may still receive it.
func (s *stream) deliver(ctx context.Context, m *platformv1.WatchStandingsResponse, present *state) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	return s.deliverNext(ctx, m, present)
}

// deliverNext is deliver with sending held.
func (s *stream) deliverNext(ctx context.Context, m *platformv1.WatchStandingsResponse, present *state) error {
	if _, err := s.who.May(ctx, uid.ID{}, types[0]); err != nil {
		return err
	}
	s.metrics.observeChanges(m.GetChanges(), present)
	if m.GetCursor() != "" {
		s.cursor = m.GetCursor()
	}
	err := s.send(m)
	s.sentAt = time.Now()
	return err
}

// keepAlive sends a response whenever the stream has been silent for maxSilence, until stop is
// called. Reading a page of a snapshot or of events can take longer than that, and so can
// waiting for the events before the barrier.
func (s *stream) keepAlive(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for wait := maxSilence; ; {
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
			var err error
			if wait, err = s.breakSilence(ctx); err != nil {
				if ctx.Err() == nil { // an error after stop would hide why the stream ends
					s.end(err)
				}
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

// breakSilence sends a response if the stream was silent for maxSilence. It returns when to
// look again. The response confirms nothing.
func (s *stream) breakSilence(ctx context.Context) (next time.Duration, err error) {
	s.sending.Lock()
	defer s.sending.Unlock()
	if left := maxSilence - time.Since(s.sentAt); left > 0 {
		return left, nil
	}
	present := s.present()
	m := &platformv1.WatchStandingsResponse{ServerTime: int64(present.present()), Cursor: s.cursor}
	return maxSilence, s.deliverNext(ctx, m, present)
}
