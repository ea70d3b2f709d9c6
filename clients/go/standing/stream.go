package standing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cenkalti/backoff/v5"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
)

const (
	// Bounds of the wait before the stream is opened again.
	minReconnectWait = 50 * time.Millisecond
	maxReconnectWait = 15 * time.Second
	// maxRetryAfter is the longest wait that the server may ask for.
	maxRetryAfter = time.Minute
	// A stream is opened again if it is silent for maxSilence, of which the server sends
	// something every 2 s, or does not begin within maxBeginning.
	maxSilence   = 6 * time.Second
	maxBeginning = 20 * time.Second
)

// errSilent is the error of a stream on which nothing arrived.
var errSilent = errors.New("standing: the server was silent for too long")

// watcher keeps a stream open.
type watcher struct {
	*Client

	wait backoff.ExponentialBackOff
	// state is the complete state, and cursor where it ends. The cursor is empty if the
	// next stream must begin with a snapshot.
	state  *state
	cursor string
}

// run opens the stream again and again until ctx ends.
func (c *Client) run(ctx context.Context) {
	w := &watcher{Client: c, wait: backoff.ExponentialBackOff{
		InitialInterval: minReconnectWait, MaxInterval: maxReconnectWait, Multiplier: 2, RandomizationFactor: 0.5,
	}}
	for {
		err := w.watch(ctx)
		if ctx.Err() != nil {
			return
		}
		c.disconnected(err)
		if w.cursor != "" && (errors.Is(err, errMessage) || status.Code(err) == codes.InvalidArgument) {
			w.cursor = "" // begin anew
		}
		select {
		case <-time.After(max(w.wait.NextBackOff(), retryAfter(err))):
		case <-ctx.Done():
			return
		}
	}
}

// watch opens the stream and applies what it receives until it ends.
func (w *watcher) watch(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(maxBeginning, func() { cancel(errSilent) })
	defer silence.Stop()
	stream, err := w.chat.WatchStandings(ctx)
	if err == nil {
		err = stream.Send(w.subscription())
	}
	if err != nil && !errors.Is(err, io.EOF) { // then Recv has the error
		return err
	}
	s := &session{watcher: w, acks: newAcks()}
	acknowledged := make(chan struct{})
	go func() {
		defer close(acknowledged)
		s.acks.send(ctx, stream)
	}()
	defer func() {
		cancel(nil)
		<-acknowledged
		if s.hasPart && !s.isComplete {
			w.cursor = ""
		}
	}()
	for {
		response, err := stream.Recv()
		switch {
		case errors.Is(context.Cause(ctx), errSilent):
			return errSilent
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
		silence.Reset(maxSilence)
		if err := s.receive(response); err != nil {
			return fmt.Errorf("standing: %w", err)
		}
	}
}

func (w *watcher) subscription() *platformv1.WatchStandingsRequest {
	subscription := &platformv1.StandingsSubscription{
		SubscriberName: w.options.Name, AllChannels: w.options.AllChannels, Cursor: w.cursor,
	}
	for _, id := range w.options.Channels {
		subscription.ChannelIds = append(subscription.ChannelIds, id.String())
	}
	return &platformv1.WatchStandingsRequest{Request: &platformv1.WatchStandingsRequest_Subscribe{Subscribe: subscription}}
}

// session is what one stream has brought so far.
type session struct {
	*watcher

	acks  *acks
	begun bool
	// isComplete says that the state is complete. hasPart says that changes were applied to
	// it before: if the stream ends then, the next one begins with a snapshot, because
	// repeating the changes would undo the last of them for a moment.
	isComplete, hasPart bool
	// loading is the state of a snapshot that is not complete. Until it is, the earlier
	// state answers.
	loading *state
}

// receive applies a response.
func (s *session) receive(r *platformv1.WatchStandingsResponse) error {
	s.clock.observe(r.GetServerTime())
	if err := s.begin(r.GetBeginning()); err != nil {
		return err
	}
	target := s.state
	if s.loading != nil {
		target = s.loading
	}
	if part := r.GetSnapshot(); part != nil {
		if s.loading == nil {
			return fmt.Errorf("%w: a snapshot after it was complete", errMessage)
		}
		if err := target.load(part); err != nil {
			return err
		}
	}
	if err := target.apply(r.GetChanges()); err != nil {
		return err
	}
	s.counts.changes.Add(uint64(len(r.GetChanges())))
	s.hasPart = s.hasPart || s.loading == nil && len(r.GetChanges()) > 0
	if r.GetIsComplete() {
		s.isComplete = true
		if s.loading != nil {
			s.loading.finish()
			s.state, s.loading, s.cursor = s.loading, nil, ""
			s.counts.snapshots.Add(1)
		}
	}
	if s.isComplete {
		s.applied(r)
	}
	return nil
}

// begin handles the beginning of a stream, which is in its first response only.
func (s *session) begin(beginning *platformv1.StandingsBeginning) error {
	switch {
	case s.begun == (beginning != nil):
		return fmt.Errorf("%w: a stream begins with a beginning, and has no other", errMessage)
	case beginning == nil:
		return nil
	case beginning.GetIsSnapshot():
		s.loading = newState(s.options.Channels)
	case s.cursor == "":
		return fmt.Errorf("%w: no snapshot, although there was no cursor", errMessage)
	default:
		s.counts.resumes.Add(1)
	}
	s.begun = true
	return nil
}

// applied notes that the state has what a response says.
func (s *session) applied(r *platformv1.WatchStandingsResponse) {
	s.state.sweep(s.clock.now())
	s.wait.Reset()
	s.confirm(s.state, r.GetAsOf())
	if cursor := r.GetCursor(); cursor != "" {
		s.cursor = cursor
		s.acks.note(cursor, s.slowest(r.GetChanges()))
	}
}

// slowest returns the longest time from a change until now, in milliseconds.
func (s *session) slowest(changes []*platformv1.StandingChange) int64 {
	var longest int64
	for _, change := range changes {
		if at := change.GetOccurredAt(); at > 0 {
			longest = max(longest, s.clock.now()-at)
		}
	}
	return longest
}

// isRefusal reports whether an error says that the stream cannot be opened as it is.
func isRefusal(err error) bool {
	switch status.Code(err) {
	case codes.Unauthenticated, codes.PermissionDenied, codes.InvalidArgument, codes.Unimplemented, codes.ResourceExhausted:
		return true
	default:
		return false
	}
}

// retryAfter returns how long the server asks to wait; 0 if it does not say.
func retryAfter(err error) time.Duration {
	for _, detail := range status.Convert(err).Details() {
		if d, ok := detail.(*errdetails.RetryInfo); ok {
			return min(d.GetRetryDelay().AsDuration(), maxRetryAfter)
		}
	}
	return 0
}

// standingsStream is the stream of the contract.
type standingsStream = grpc.BidiStreamingClient[platformv1.WatchStandingsRequest, platformv1.WatchStandingsResponse]
