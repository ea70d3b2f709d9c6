package webhooks

import (
	"context"
	"errors"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// maxInFlight is the maximum number of lanes of a webhook that have an attempt in
	// flight at the same time.
	maxInFlight = 8
	// maxRepeatsInFlight is how many of them may be of redeliveries, so that a receiver that
	// does not respond to these gets other events.
	maxRepeatsInFlight = maxInFlight / 2
	// renewInterval is how often the claim is renewed while attempts are in flight.
	renewInterval = claimTime / 3
	// stopTime is how long attempts in flight may take when the server stops. What has
	// not ended by then is sent again by another server.
	stopTime = 3 * time.Second
)

// worker is the work of one server on one webhook while the server holds the claim.
type worker struct {
	*Engine

	id   uid.ID
	slot *slot
	poke store.Signal

	epoch    int64 // 0 before the webhook is claimed
	position int64 // the webhook's position after the last turn
	// isBlocked is true if new events change nothing before the webhook is due.
	isBlocked bool
	// isPostponed is true if an attempt has to wait for a slow slot.
	isPostponed bool
	results     chan outcome
	// inFlight holds the lanes that have an attempt in flight.
	inFlight map[uid.ID]bool
	// repeatsInFlight is the number of lanes in inFlight that are redeliveries.
	repeatsInFlight int
}

func newWorker(e *Engine, id uid.ID, s *slot) *worker {
	return &worker{
		Engine: e, id: id, slot: s, poke: store.NewSignal(),
		results: make(chan outcome, maxInFlight), inFlight: map[uid.ID]bool{},
	}
}

// lane returns the key of the deliveries that are sent one after the other: the
// channel. A delivery that was requested again is a lane of its own.
func lane(d *ent.WebhookDelivery) uid.ID {
	if d.IsRepeat {
		return d.ID
	}
	return d.ChannelID
}

// run works on the webhook until there is nothing to send, its slot is needed for
// others, or ctx ends.
func (w *worker) run(ctx context.Context) {
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var results []outcome
	for ctx.Err() == nil && (len(w.inFlight) > 0 || !w.yields()) {
		began := time.Now()
		p, err := w.turn(ctx, results, false)
		switch {
		case err != nil && ctx.Err() == nil:
			// The claim may be lost in the meantime. The next turn detects that.
			w.Log.WarnContext(ctx, "webhook worker failed; retrying", "webhook_id", w.id.String(), "error", err)
			w.sleep(ctx, time.Second)
			if w.epoch == 0 {
				return
			}
		case p.over:
			return
		}
		if err != nil {
			continue // the next turn records the same results
		}
		results = nil
		if time.Since(began) < claimTime-w.Timeout-renewInterval { // the claim outlives the attempts
			w.send(sending, p)
		}
		if !p.again {
			results = w.wait(ctx)
		}
	}
	w.stop(context.WithoutCancel(ctx), results)
}

// yields reports whether the worker begins no more attempts and leaves the webhook to
// whichever worker finds room for it.
func (w *worker) yields() bool { return w.isPostponed || w.slot.yields() }

func (w *worker) sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// send starts the attempts of a plan.
func (w *worker) send(ctx context.Context, p plan) {
	for _, j := range p.send {
		w.inFlight[lane(j.delivery)] = true
		if j.delivery.IsRepeat {
			w.repeatsInFlight++
		}
		go func() {
			if o, ok := w.try(ctx, p, j.event); ok {
				o.delivery, o.event = j.delivery, j.event
				w.results <- o
			}
		}()
	}
}

// try makes an attempt. An attempt that turns out to be slow while no slow slot is free
// is postponed.
func (w *worker) try(ctx context.Context, p plan, event *outbox.Event) (o outcome, ok bool) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	began := time.Now()
	slow := time.AfterFunc(slowAfter, func() {
		if !w.slot.slowDown() {
			cancel(errNoRoom)
		}
	})
	defer slow.Stop()
	o, ok = w.attempt(ctx, p.hook, messageOf(event), p.now)
	if !ok && errors.Is(context.Cause(ctx), errNoRoom) {
		return outcome{isSlow: true, isPostponed: true}, true
	}
	o.isSlow = time.Since(began) >= slowAfter
	return o, ok
}

// job is a delivery with its event.
type job struct {
	delivery *ent.WebhookDelivery
	event    *outbox.Event
}

// wait waits for an attempt to end or for the time of the next turn. It returns the
// outcomes of the attempts that have ended, or none.
func (w *worker) wait(ctx context.Context) []outcome {
	renew := time.NewTimer(renewInterval)
	defer renew.Stop()
	var ended []outcome
	select {
	case o := <-w.results:
		ended = w.take(ended, o)
	case <-w.poke:
	case <-renew.C:
	case <-ctx.Done():
	}
	for {
		select {
		case o := <-w.results:
			ended = w.take(ended, o)
		default:
			return ended
		}
	}
}

func (w *worker) take(ended []outcome, o outcome) []outcome {
	delete(w.inFlight, lane(o.delivery))
	if o.delivery.IsRepeat {
		w.repeatsInFlight--
	}
	w.isPostponed = w.isPostponed || o.isPostponed
	return append(ended, o)
}

// stop records the attempts that end within stopTime, and releases the claim, so that
// another server can continue immediately.
func (w *worker) stop(ctx context.Context, results []outcome) {
	if w.epoch == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, stopTime+time.Second)
	defer cancel()
	timeout := time.After(stopTime)
	for len(w.inFlight) > 0 {
		select {
		case o := <-w.results:
			results = w.take(results, o)
			continue
		case <-timeout:
		}
		break
	}
	if _, err := w.turn(ctx, results, true); err != nil {
		w.Log.WarnContext(ctx, "releasing the claim of a webhook failed; it will expire", "webhook_id", w.id.String(), "error", err)
	}
}

// plan is the result of a turn.
type plan struct {
	hook *ent.Webhook
	now  instant.Instant
	send []job
	// again is true if the next turn has more to do immediately.
	again bool
	// over is true if there is nothing to do now, or if another server took over the
	// webhook.
	over bool
}
