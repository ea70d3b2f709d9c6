// Package standings streams to chat servers what decides about posts (the bans, mutes and
// roles of channels), so that they can answer by themselves whether a user may post, and
// reports what they have applied.
//
// A stream begins with a snapshot of the rows, or resumes from a cursor. Changes derive
// from the events of the channels, which have one order and can be resumed: see package
// watch. What changes a standing without an event is found by the observer.
package standings

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/fair"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/hearing"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// Service streams standings.
type Service struct {
	// Store is the database.
	Store *store.Store
	// Watching has the events, the limits of streams and the rights of their callers.
	Watching *watch.Service

	log         *slog.Logger
	observer    *observer
	subscribers *subscribers
	reads       *fair.Gate
	metrics     *metrics
}

// New returns a Service, and registers its metrics. Its jobs must run.
func New(s *store.Store, watching *watch.Service, log *slog.Logger, r prometheus.Registerer) *Service {
	m := newMetrics(r)
	return &Service{
		Store: s, Watching: watching, log: log, metrics: m, reads: fair.NewGate(readsAtOnce),
		observer:    newObserver(s),
		subscribers: &subscribers{db: s, metrics: m, byID: map[uid.ID]*subscriber{}},
	}
}

// Jobs returns the jobs of the streams of this server.
func (s *Service) Jobs() []jobs.Job { return []jobs.Job{s.observer.job(), s.subscribers.job()} }

// subscription is what a chat server asks for.
type subscription struct {
	name     string
	channels *selection
	cursor   string
}

func parse(req *platformv1.WatchStandingsRequest) (*subscription, error) {
	asked := req.GetSubscribe()
	if asked == nil {
		return nil, apierr.Invalid(apierr.Violation{Field: "subscribe", Description: "is required in the first request"})
	}
	f := validate.Of(asked)
	f.In("subscribe")
	name := f.Identifier("subscriberName", asked.GetSubscriberName())
	named := asked.GetChannelIds()
	var ids []uid.ID
	if f.AtMost("channelIds", len(named)) {
		for i, text := range named {
			ids = append(ids, f.UUID(fmt.Sprintf("channelIds[%d]", i), text))
		}
	}
	switch {
	case asked.GetAllChannels() && len(named) > 0:
		f.Add("channelIds", "must be empty with allChannels")
	case !asked.GetAllChannels() && len(named) == 0:
		f.Add("channelIds", "is required unless allChannels is true")
	}
	return &subscription{name, newSelection(ids), asked.GetCursor()}, f.Err()
}

// WatchStandings streams standings to a chat server.
func (s *Service) WatchStandings(requests grpc.BidiStreamingServer[platformv1.WatchStandingsRequest, platformv1.WatchStandingsResponse]) error {
	caller := authn.FromContext(requests.Context())
	closeStream, err := s.Watching.Open(caller)
	if err != nil {
		return err
	}
	defer closeStream()
	first, err := requests.Recv()
	if errors.Is(err, io.EOF) {
		first, err = nil, nil
	}
	if err != nil {
		return err
	}
	asked, err := parse(first)
	if err != nil {
		return err
	}
	var from *place
	if err := paging.Read(requests.Context(), s.Store, cursorList, asked.cursor, &from); err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(requests.Context())
	defer end(nil)
	st := &stream{
		Service: s, channels: asked.channels, events: asked.channels.events(), digest: asked.channels.digest(), send: requests.Send, end: end,
		wake: store.NewSignal(), missing: map[uid.ID]bool{}, sentMissing: map[uid.ID]bool{}, sentChecks: map[uid.ID]instant.Instant{},
	}
	err = s.serve(ctx, st, asked, from, requests.Recv)
	if cause := context.Cause(ctx); cause != nil && ctx.Err() != nil {
		err = cause
	}
	if errors.Is(err, errGap) {
		err = &apierr.Error{Reason: moderatov1.Reason_REASON_UNAVAILABLE, RetryAfter: time.Second, Cause: err}
	}
	return watch.Told(err)
}

// wish returns what a stream hears. The acting user of a backend is of no account, as in
// GetStanding.
func wish(caller *authn.Caller) (*hearing.Wish, error) {
	backend := *caller
	backend.UserID = uid.ID{}
	return hearing.Ask(&backend, uid.ID{}, types)
}

// serve runs a stream. from is where it resumes; nil for a snapshot.
func (s *Service) serve(ctx context.Context, st *stream, asked *subscription, from *place, receive func() (*platformv1.WatchStandingsRequest, error)) error {
	caller := authn.FromContext(ctx)
	w, err := wish(caller)
	if err != nil {
		return err
	}
	if st.who, err = s.Watching.Rights.Admit(ctx, w); err != nil {
		return err
	}
	defer s.Watching.Rights.Leave(st.who)
	go func() {
		select {
		case <-st.who.Over():
			st.end(st.who.Err())
		case <-s.Watching.Stopping:
			st.end(apierr.ErrStopping)
		case <-ctx.Done():
		}
	}()
	present, err := s.observer.join(ctx, st)
	if err != nil {
		return err
	}
	defer s.observer.leave(st)
	isResumed, err := st.begin(ctx, from, present)
	if err != nil {
		return err
	}
	defer st.from.Close()
	position := int64(incomplete)
	if isResumed {
		position = from.Position
	}
	st.subscriber = s.subscribers.add(ctx, s.log, caller.ClientID, asked.name, st.channels, position)
	defer s.subscribers.remove(st.subscriber)
	go st.receive(ctx, receive)
	m := &platformv1.WatchStandingsResponse{
		ServerTime: int64(present.present()),
		Beginning:  &platformv1.StandingsBeginning{IsSnapshot: !isResumed, IsCursorExpired: asked.cursor != "" && !isResumed},
	}
	if err := st.deliver(ctx, m, present); err != nil {
		return err
	}
	defer st.keepAlive(ctx)()
	if err := st.start(ctx, isResumed, present); err != nil {
		return err
	}
	return st.run(ctx)
}

// begin subscribes to the events, from a place if it can resume there, or else from the
// present.
func (s *stream) begin(ctx context.Context, from *place, present *state) (isResumed bool, err error) {
	if from != nil && from.Rewrites == present.Rewrites && from.Imports == present.Imports && from.Channels == s.digest {
		if isResumed, err = s.resume(ctx, from); err != nil {
			return false, err
		}
	}
	if !isResumed {
		if s.from, err = s.Watching.Hub.Subscribe(ctx, &present.Last, s.wanted); err != nil {
			return false, err
		}
	}
	s.from.Also = s.wake
	s.rewrites, s.imports = present.Rewrites, present.Imports
	return isResumed, nil
}

// resume subscribes to the events from a place, unless these are no longer kept or a channel
// was created since, which no event reports.
func (s *stream) resume(ctx context.Context, from *place) (isResumed bool, err error) {
	missing, err := s.readMissing(ctx)
	if err != nil || from.Missing != s.digestMissing(missing) {
		return false, err
	}
	s.from, err = s.Watching.Hub.Subscribe(ctx, &from.Position, s.wanted)
	if errors.Is(err, watch.ErrTrimmed) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	s.addSentMissing(missing)
	s.restoreChecks(from.Checks)
	return true, nil
}

// wanted returns which events to read while the stream catches up.
func (s *stream) wanted() *watch.Selection { return s.events }

// start sends the snapshot and which channels do not exist, unless the stream resumes. The
// state of the chat server is complete when the barrier is passed.
func (s *stream) start(ctx context.Context, isResumed bool, present *state) error {
	s.barrier = &barrier{position: present.Last}
	s.wake.Raise() // the state may be complete already
	if isResumed {
		return nil
	}
	if err := s.sendSnapshot(ctx, present); err != nil {
		return err
	}
	var err error
	if s.barrier, err = s.observer.readBarrier(ctx, s.channels.has); err != nil {
		return err
	}
	return s.sendMissing(ctx, present)
}

// sendMissing tells which channels do not exist.
func (s *stream) sendMissing(ctx context.Context, present *state) error {
	missing, err := s.readMissing(ctx)
	if err != nil || len(missing) == 0 {
		return err
	}
	s.addSentMissing(missing)
	m := &platformv1.WatchStandingsResponse{ServerTime: int64(present.present())}
	for _, id := range missing {
		m.Changes = append(m.Changes, ofChannel(channelDeleted, id))
	}
	return s.deliver(ctx, m, present)
}

// readMissing returns the channels of the selection that do not exist, sorted.
func (s *stream) readMissing(ctx context.Context) (missing []uid.ID, err error) {
	existing, err := existingChannels(ctx, s.Store, s.channels.ids)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	for _, id := range s.channels.ids {
		if !existing[id] {
			missing = append(missing, id)
		}
	}
	return missing, nil
}

// addSentMissing notes that the chat server knows which channels do not exist. From then on
// the observer looks for them.
func (s *stream) addSentMissing(missing []uid.ID) {
	s.mu.Lock()
	for _, id := range missing {
		s.missing[id] = true
	}
	s.mu.Unlock()
	for _, id := range missing {
		s.setMissing(id, true)
	}
}

// receive reads what the chat server acknowledges, until the stream ends.
func (s *stream) receive(ctx context.Context, receive func() (*platformv1.WatchStandingsRequest, error)) {
	for {
		req, err := receive()
		if err != nil {
			return // the chat server sends no more, or the stream has ended
		}
		if err := s.acknowledge(ctx, req); err != nil {
			s.end(err)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(acknowledgeInterval):
		}
	}
}

func (s *stream) acknowledge(ctx context.Context, req *platformv1.WatchStandingsRequest) error {
	ack := req.GetAcknowledge()
	if ack == nil {
		return apierr.Invalid(apierr.Violation{Field: "acknowledge", Description: "is required after the first request"})
	}
	f := validate.Of(ack)
	f.In("acknowledge")
	slowest := f.Number("slowestMilliseconds", ack.GetSlowestMilliseconds())
	if ack.GetCursor() == "" {
		f.Add("cursor", "is required")
	}
	if err := f.Err(); err != nil {
		return err
	}
	var at place
	if err := paging.Read(ctx, s.Store, cursorList, ack.GetCursor(), &at); err != nil {
		return err
	}
	if at.Channels == s.digest {
		s.subscribers.acknowledge(s.subscriber, at.Position, slowest)
	}
	return nil
}
