package moderation

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/moderato-live/moderato/internal/fair"
	"github.com/moderato-live/moderato/internal/uid"
)

const (
	// turnLength is how long a preview examines before that of the next caller has its
	// turn. It bounds the wait of a short preview beside long ones.
	turnLength = 100 * time.Millisecond
	// maxPreviews is how many previews may take turns at the same time, and maxOwnPreviews how
	// many of them may belong to one owner. Each keeps what it found, and a page of messages, in
	// memory.
	maxPreviews    = 16
	maxOwnPreviews = 4
)

// Sweeps shares processor time among those who try patterns on messages: their callers take
// turns.
type Sweeps struct {
	gate     *fair.Gate
	previews *fair.Room
}

// NewSweeps returns Sweeps that leave at least half of the processors to other calls if
// there are several.
func NewSweeps() *Sweeps { return newSweeps(max(1, min(2, runtime.GOMAXPROCS(0)/2))) }

func newSweeps(slots int) *Sweeps {
	return &Sweeps{gate: fair.NewGate(slots), previews: fair.NewRoom(maxPreviews, maxOwnPreviews)}
}

// Turn waits for a turn of the posts of a channel, whoever sends them, in which a text may take
// long to match. release ends the turn.
func (s *Sweeps) Turn(ctx context.Context, channelID uid.ID) (release func(), err error) {
	of := fair.FromContext(ctx)
	of.Owner = fair.Owner{User: channelID}
	slot, err := s.gate.Acquire(fair.NewContext(ctx, of))
	if err != nil {
		return nil, err
	}
	return slot.Release, nil
}

// Examine runs do in turns, as a preview does. do calls yield often, which gives others their turns.
// If do takes longer than a time in all, Examine returns tooLarge.
func (s *Sweeps) Examine(ctx context.Context, within time.Duration, tooLarge error, do func(ctx context.Context, yield func(context.Context) error) error) error {
	t, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer t.end()
	bounded, cancel := t.limit(ctx, within)
	defer cancel()
	err = do(bounded, t.yield)
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(bounded), errTooLarge) {
		return tooLarge
	}
	return err
}

// turns are the turns of one preview. Only one goroutine may use them.
type turns struct {
	sweeps *Sweeps
	leave  func() // the room of previews
	slot   fair.Slot
	length time.Duration
	began  time.Time // the present turn

	left    time.Duration // of the time limit, when the present turn began
	late    *time.Timer   // ends the work when nothing is left
	tooLate context.CancelCauseFunc
}

// begin waits for the first turn of a preview. The caller must end the turns.
func (s *Sweeps) begin(ctx context.Context) (*turns, error) {
	slot, err := s.gate.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	leave, ok := s.previews.Enter(fair.FromContext(ctx).Owner)
	if !ok {
		slot.Release()
		return nil, &fair.OverloadedError{RetryAfter: time.Second}
	}
	return &turns{sweeps: s, leave: leave, slot: slot, length: turnLength, began: time.Now()}, nil
}

// end ends the last turn. Further calls have no effect.
func (t *turns) end() {
	t.slot.Release()
	t.leave()
}

// limit returns a context that is cancelled when the preview has used the time d of its turns,
// with the cause errTooLarge. The time between turns does not count. The caller must cancel
// the context.
func (t *turns) limit(ctx context.Context, d time.Duration) (bounded context.Context, cancel func()) {
	bounded, t.tooLate = context.WithCancelCause(ctx)
	t.began, t.left = time.Now(), d
	t.late = time.AfterFunc(d, func() { t.tooLate(errTooLarge) })
	return bounded, func() {
		t.late.Stop()
		t.tooLate(nil)
	}
}

// yield gives others their turns if the present one is over, and waits for the next. It
// returns an error when the time limit is reached or the call ends.
func (t *turns) yield(ctx context.Context) error {
	took := time.Since(t.began)
	if took >= t.left {
		t.tooLate(errTooLarge)
	}
	if err := ctx.Err(); err != nil || took < t.length {
		return err
	}
	t.late.Stop()
	t.slot.Release()
	again := fair.FromContext(ctx)
	again.MaxWait = 0 // what was found so far must not be lost
	slot, err := t.sweeps.gate.Acquire(fair.NewContext(ctx, again))
	if err != nil {
		return err
	}
	t.slot, t.began, t.left = slot, time.Now(), t.left-took
	t.late.Reset(t.left)
	return nil
}
