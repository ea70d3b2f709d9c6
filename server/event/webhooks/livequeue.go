package webhooks

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/store"
)

// maxLivePause is the longest pause between attempts to send live events to a receiver
// that does not ask for a longer one.
const maxLivePause = time.Minute

// liveQueue holds the live events that wait for one webhook. The liveSender's mu guards it.
type liveQueue struct {
	candidate

	waiting []*liveEvent
	senders int             // how many goroutines send, each one event at a time
	busy    map[uid.ID]bool // the channels of which an event is being sent
	missed  int64           // how many events were lost since the last attempt
	// failures counts the failed attempts since the last success.
	failures    int
	pausedUntil time.Time
}

func (q *liveQueue) isPaused() bool { return time.Now().Before(q.pausedUntil) }

// result is what became of a live event.
type result struct {
	kind   resultKind
	status int
	// pause is how long the receiver is to be left alone.
	pause time.Duration
}

type resultKind int

const (
	succeeded  resultKind = iota
	unanswered            // the attempt failed
	unsent                // there was no room, or the database could not be asked
	unwanted              // the message was deleted, or is from before the webhook's right
	ended                 // the webhook is disabled or deleted
)

// send sends the events of a queue until none is left that it can send.
func (l *liveSender) send(ctx context.Context, q *liveQueue) {
	for {
		m, missed := l.take(ctx, q)
		if m == nil {
			return
		}
		l.settle(q, m, missed, l.deliver(ctx, q, m, missed))
	}
}

// take returns the first event of a channel that has none under way, and the number of
// events that were lost before it. It returns nil if there is none.
func (l *liveSender) take(ctx context.Context, q *liveQueue) (m *liveEvent, missed int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	late := 0
	for late < len(q.waiting) && (ctx.Err() != nil || time.Since(q.waiting[late].at) > l.Timeout) {
		late++
	}
	if late > 0 {
		l.loseFirst(q, late)
	}
	i := slices.IndexFunc(q.waiting, func(m *liveEvent) bool { return !q.busy[m.ChannelID] })
	if i < 0 {
		q.senders--
		if q.senders == 0 && q.missed == 0 && l.queues[q.id] == q {
			delete(l.queues, q.id)
		}
		return nil, 0
	}
	m = q.waiting[i]
	q.waiting = slices.Delete(q.waiting, i, i+1)
	l.waiting.add(q.owner, -1)
	q.busy[m.ChannelID] = true
	missed, q.missed = q.missed, 0
	return m, missed
}

// settle records what became of an event with which the receiver was told of missed ones.
func (l *liveSender) settle(q *liveQueue, m *liveEvent, missed int64, r result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(q.busy, m.ChannelID)
	switch r.kind {
	case succeeded:
		l.count("delivered", 1)
		q.failures = 0
	case unanswered:
		l.count("failed", 1)
		q.missed += missed + 1
		q.failures++
		r.pause = max(r.pause, min(time.Second<<min(q.failures-1, 6), maxLivePause))
		if r.status == http.StatusGone {
			r.pause = maxLivePause
		}
	case unsent:
		q.missed += missed
		l.lose(q, 1)
	case unwanted:
		q.missed += missed
	case ended:
		l.waiting.add(q.owner, -len(q.waiting))
		q.waiting, q.missed, q.failures = nil, 0, 0
	}
	if r.pause > 0 {
		q.pausedUntil = time.Now().Add(r.pause)
		l.loseFirst(q, len(q.waiting))
	}
}

// deliver makes the attempt to send an event, if the webhook may receive it.
func (l *liveSender) deliver(ctx context.Context, q *liveQueue, m *liveEvent, missed int64) result {
	ctx, cancel := l.attemptContext(ctx)
	defer cancel(nil)
	slot := l.slots.acquireLive(q.owner, cancel)
	if slot == nil {
		return result{kind: unsent}
	}
	defer l.slots.releaseLive(slot)
	to, r, err := l.check(ctx, q.id, m)
	if err != nil {
		l.Log.WarnContext(ctx, "a chat message could not be checked and is not sent to a webhook", "webhook_id", q.id.String(), "error", err)
		return result{kind: unsent}
	}
	if to == nil {
		return r
	}
	o, ok := l.attempt(ctx, to.hook, message{id: m.ID.String(), body: m.body(), missed: missed}, to.now)
	if !ok { // the server stops, or the slot was needed for others
		return result{kind: unsent}
	}
	level := slog.LevelDebug
	if o.problem != "" {
		level, r = slog.LevelInfo, result{kind: unanswered, status: o.status, pause: o.wait}
	}
	l.Log.Log(ctx, level, "webhook delivery of chat", "webhook_id", q.id.String(), "host", host(to.hook.URL),
		"event_id", m.ID.String(), "status", o.status, "error", o.problem)
	return r
}

// attemptContext returns the context of an attempt, which may continue for stopTime after
// ctx ends.
func (l *liveSender) attemptContext(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	attempt, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(stopTime, func() { cancel(context.Canceled) }) })
	return attempt, func(cause error) {
		stop()
		cancel(cause)
	}
}

// recipient is a webhook that may receive an event now.
type recipient struct {
	hook *ent.Webhook
	now  instant.Instant
}

// check returns the webhook if it may receive an event, and otherwise what became of
// the event. Whether a chat message was deleted is checked last.
func (l *liveSender) check(ctx context.Context, id uid.ID, m *liveEvent) (*recipient, result, error) {
	ctx, cancel := context.WithTimeout(ctx, l.Timeout)
	defer cancel()
	w := &ent.Webhook{ID: id}
	var now int64
	var right bool
	err := store.QueryRow(ctx, l.Store.Read, "SELECT w.url, w.secret, w.former_secret, w.former_until, w.heard_from, w.paused_until, "+l.Store.Clock.SQL()+", "+hasRight(l.Store.Clock)+
		" FROM webhooks w WHERE w.id = ? AND w.disabled_reason = ?", []any{id, enabled},
		&w.URL, &w.Secret, &w.FormerSecret, &w.FormerUntil, &w.HeardFrom, &w.PausedUntil, &now, &right)
	to := &recipient{w, l.Store.Clock.At(now)}
	switch {
	case errors.Is(err, store.ErrNoRows):
		return nil, result{kind: ended}, nil
	case err != nil:
		return nil, result{}, l.Store.Classify(err)
	case !right:
		return nil, result{kind: ended}, l.disableIfUnauthorized(ctx, id)
	case w.PausedUntil != nil && to.now < *w.PausedUntil:
		return nil, result{kind: unsent, pause: w.PausedUntil.Sub(to.now)}, nil
	case w.HeardFrom != nil && instant.OfProto(m.Event.GetMetadata().GetMessageTimestamp()) < *w.HeardFrom:
		return nil, result{kind: unwanted}, nil
	}
	if m.Kind() != live.Type {
		return to, result{}, nil
	}
	visible, err := l.Visible(ctx, l.Store, []uid.ID{m.ID})
	if err != nil {
		return nil, result{}, err
	}
	if !visible[m.ID] {
		return nil, result{kind: unwanted}, nil
	}
	return to, result{}, nil
}
