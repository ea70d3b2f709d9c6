package standing

import (
	"context"
	"sync"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
)

const (
	// ackInterval is the shortest time between two acknowledgements.
	ackInterval = 100 * time.Millisecond
	// maxSlowest is the longest time that an acknowledgement may report.
	maxSlowest = 24 * time.Hour
)

// acks coalesces acknowledgements: one is sent at once, and the next one after ackInterval
// for all responses that were applied meanwhile.
type acks struct {
	ready chan struct{}

	mu      sync.Mutex
	cursor  string
	slowest int64
}

func newAcks() *acks { return &acks{ready: make(chan struct{}, 1)} }

// note says that the state is applied up to a cursor. The slowest of its changes took some
// milliseconds.
func (a *acks) note(cursor string, slowest int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if cursor == a.cursor {
		return
	}
	a.cursor, a.slowest = cursor, max(a.slowest, min(slowest, maxSlowest.Milliseconds()))
	select {
	case a.ready <- struct{}{}:
	default:
	}
}

// take returns the acknowledgement of what was applied since the last one.
func (a *acks) take() *platformv1.WatchStandingsRequest {
	a.mu.Lock()
	defer a.mu.Unlock()
	ack := &platformv1.StandingsAcknowledgement{Cursor: a.cursor, SlowestMilliseconds: a.slowest}
	a.slowest = 0
	return &platformv1.WatchStandingsRequest{Request: &platformv1.WatchStandingsRequest_Acknowledge{Acknowledge: ack}}
}

// send sends acknowledgements until ctx ends or the stream does, of which the receiver
// hears.
func (a *acks) send(ctx context.Context, stream standingsStream) {
	for {
		select {
		case <-a.ready:
		case <-ctx.Done():
			return
		}
		if stream.Send(a.take()) != nil {
			return
		}
		select {
		case <-time.After(ackInterval):
		case <-ctx.Done():
			return
		}
	}
}
