package moderation

import (
	"context"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/store"
)

// MaxAfterglowBatch is the size of a batch from which an afterglow bans nobody more.
const MaxAfterglowBatch = maxAfterglowBatch

// FindSweep finds the users who match the conditions of a sweep, within limits, and returns
// their number.
func FindSweep(ctx context.Context, s *store.Store, req *moderatov1.PreviewSweepRequest, rows, users int, limit time.Duration) (int, error) {
	return NewTurns(1).find(ctx, s, req, turnLength, sweepLimits{rows: rows, users: users, time: limit})
}

// The limits of previews that take turns, in all and of one owner.
const (
	MaxPreviews    = maxPreviews
	MaxOwnPreviews = maxOwnPreviews
)

// Turns are those of previews.
type Turns struct{ *Sweeps }

// NewTurns returns Turns of which a number are taken at the same time.
func NewTurns(slots int) Turns { return Turns{newSweeps(slots)} }

// FindSweep finds the users who match the conditions of a sweep, and gives others a turn
// after each message. It returns the number of the users.
func (s Turns) FindSweep(ctx context.Context, db *store.Store, req *moderatov1.PreviewSweepRequest) (int, error) {
	return s.find(ctx, db, req, 0, defaultSweepLimits)
}

func (s Turns) find(ctx context.Context, db *store.Store, req *moderatov1.PreviewSweepRequest, length time.Duration, limits sweepLimits) (int, error) {
	q, err := parseConditions(req)
	if err != nil {
		return 0, err
	}
	turns, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer turns.end()
	turns.length = length
	if err := q.compile(); err != nil {
		return 0, err
	}
	found, err := findSweep(ctx, db, q, turns, limits)
	if err != nil {
		return 0, err
	}
	return len(found.matched), nil
}

// Hold takes a turn until release is called.
func (s Turns) Hold(ctx context.Context) (release func(), err error) {
	slot, err := s.gate.Acquire(ctx)
	return slot.Release, err
}

// Waiting returns how many wait for a turn.
func (s Turns) Waiting() int { return s.gate.Waiting() }

// Begin takes a turn as a preview, until end is called.
func (s Turns) Begin(ctx context.Context) (end func(), err error) {
	turns, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	return turns.end, nil
}

// NewAfterglowsWithin returns Afterglows whose matchers have at most some bytes together.
func NewAfterglowsWithin(s *store.Store, sweeps *Sweeps, budget int) *Afterglows {
	return newAfterglows(s, sweeps, budget)
}

// Of returns how many afterglows of a channel are in effect.
func (a *Afterglows) Of(channelID uid.ID) int { return len(a.index.Of(channelID)) }

// Matching returns how many afterglows a message matches.
func (a *Afterglows) Matching(ctx context.Context, now instant.Instant, m chat.Message) (n int, err error) {
	steps := 0
	for _, row := range a.index.Of(m.ChannelID) {
		if _, matches, err := a.match(ctx, row, m, &steps); err != nil {
			return n, err
		} else if matches && now < row.Key.until {
			n++
		}
	}
	return n, nil
}
