package webhooks

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/server/events"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

const (
	// lookInterval is how often to look for webhooks that are due.
	lookInterval = 250 * time.Millisecond
	// claimTime is how long a server that died keeps others from its webhooks: longer
	// than an attempt takes.
	claimTime = 30 * time.Second
	// duePage is how many webhooks that are due are read at once, and maxDuePages how
	// often at a look.
	duePage     = 1000
	maxDuePages = 10
	// askedAtOnce bounds the parameters of a statement.
	askedAtOnce = 500
)

// Engine delivers events to webhooks. Every server runs one. What is delivered,
// and how far each webhook is, is in the database: a webhook with something to
// send has a time at which to look at it, and whoever claims it then works on it
// until there is nothing left. So a server that dies is replaced at that time, and
// what it sent without having noted it is sent again.
type Engine struct {
	Store *store.Store
	Hub   *events.Hub
	Log   *slog.Logger
	Options

	slots   *slots
	client  *http.Client
	look    store.Signal
	metrics metrics
	workers sync.WaitGroup
	swept   uid.ID // up to where Sweep has come

	mu      sync.Mutex
	running map[uid.ID]*worker
	// wanted is what events showed: the webhook has to get to a position. It is kept
	// until it does, whoever works on it.
	wanted map[uid.ID]want
	// dueAfter is where the next look for webhooks that are due goes on, when the last
	// one did not come to an end.
	dueAfter duePlace
}

// Options are what an Engine may do.
type Options struct {
	// Reach is where receivers may be.
	Reach Reach
	// Timeout bounds an attempt: AttemptTimeout, unless a test has it shorter.
	Timeout time.Duration
	// MaxAttempts bounds the attempts that are under way at once.
	MaxAttempts int
}

// DefaultMaxAttempts is how many attempts a server has under way at once.
const DefaultMaxAttempts = 1000

// want is the position that a webhook has to get to.
type want struct {
	candidate

	position int64
}

// NewEngine makes an Engine, with its metrics.
func NewEngine(s *store.Store, hub *events.Hub, log *slog.Logger, r prometheus.Registerer, o Options) *Engine {
	return &Engine{
		Store: s, Hub: hub, Log: log, Options: o, slots: newSlots(o.MaxAttempts),
		client: newClient(o), look: store.NewSignal(), metrics: newMetrics(r),
		running: map[uid.ID]*worker{}, wanted: map[uid.ID]want{},
	}
}

// Look has the Engine look for webhooks that are due now.
func (e *Engine) Look() { e.look.Raise() }

// nudge has a webhook looked at now, by this server if it works on it.
func (e *Engine) nudge(id uid.ID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if w := e.running[id]; w != nil {
		w.poke.Raise()
	}
	e.look.Raise()
}

// Run delivers until ctx ends, and lets attempts that are under way end.
func (e *Engine) Run(ctx context.Context) {
	var following sync.WaitGroup
	following.Go(func() { e.follow(ctx) })
	defer e.client.CloseIdleConnections()
	defer e.workers.Wait()
	defer following.Wait()
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	for {
		if err := e.startDue(ctx); err != nil && ctx.Err() == nil {
			e.Log.WarnContext(ctx, "looking for webhooks that are due failed; it will be tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-e.look:
		case <-ticker.C:
		}
	}
}

// startDue starts work on every webhook that is due.
func (e *Engine) startDue(ctx context.Context) error {
	if err := e.startWanted(ctx); err != nil {
		return err
	}
	now, err := e.Store.Clock.Now(ctx, e.Store.Read)
	if err != nil {
		return err
	}
	for range maxDuePages {
		isLast, err := e.startPage(ctx, now)
		if err != nil || isLast {
			e.dueAfter = duePlace{}
			return err
		}
		if e.slots.isFull() {
			break
		}
	}
	return nil
}

// duePlace is the place of a webhook among those that are due.
type duePlace struct {
	at instant.Instant
	id uid.ID
}

// startPage starts work on a page of those that are due, as far as there are slots for
// their owners, and reports whether it was the last page.
func (e *Engine) startPage(ctx context.Context, now instant.Instant) (isLast bool, err error) {
	var due []candidate
	after := e.dueAfter
	err = store.QueryEach(ctx, e.Store.Read, "SELECT next_at, "+candidateColumns+" FROM webhooks"+
		" WHERE next_at >= ? AND next_at <= ? AND (next_at > ? OR id > ?) ORDER BY next_at, id LIMIT ?",
		[]any{after.at, now, after.at, after.id, duePage},
		func(scan func(...any) error) error {
			var c candidate
			err := c.scan(func(into ...any) error { return scan(append([]any{&e.dueAfter.at}, into...)...) })
			e.dueAfter.id = c.id
			due = append(due, c)
			return err
		})
	for _, c := range due {
		e.start(ctx, c)
	}
	return len(due) < duePage, err
}

// startWanted starts work on the webhooks to which events came while another
// server, or a worker that was about to end, had them, or while there was no slot.
func (e *Engine) startWanted(ctx context.Context) error {
	e.mu.Lock()
	var ids []any
	for id, want := range e.wanted {
		if len(ids) == askedAtOnce {
			break
		}
		if e.running[id] == nil && e.slots.mayGrant(want.candidate) {
			ids = append(ids, id)
		}
	}
	e.mu.Unlock()
	if len(ids) == 0 {
		return nil
	}
	there := map[uid.ID]state{}
	err := e.states(ctx, "id IN ("+store.Placeholders(len(ids))+")", ids, func(s state) { there[s.id] = s })
	if err != nil {
		return err
	}
	for _, arg := range ids {
		id, _ := arg.(uid.ID)
		s, ok := there[id]
		switch {
		case !ok || e.hasReached(s):
			e.forget(id)
		case s.isFree():
			e.start(ctx, s.candidate)
		case !s.isClaimed: // it is due at a time, and gets there then
			e.forget(id)
		}
	}
	return nil
}

// hasReached reports whether a webhook is where events want it. If it is not, it is
// remembered as it is now.
func (e *Engine) hasReached(s state) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	wanted, ok := e.wanted[s.id]
	if ok {
		e.wanted[s.id] = want{s.candidate, wanted.position}
	}
	return s.position >= wanted.position
}

func (e *Engine) forget(id uid.ID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.wanted, id)
}

// start begins to work on a webhook, unless that is done already or there is no slot
// for its owner.
func (e *Engine) start(ctx context.Context, c candidate) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if w := e.running[c.id]; w != nil {
		w.poke.Raise()
		return
	}
	if ctx.Err() != nil {
		return
	}
	slot := e.slots.acquire(c)
	if slot == nil {
		return
	}
	w := newWorker(e, c.id, slot)
	e.running[c.id] = w
	e.workers.Go(func() {
		defer e.ended(w)
		w.run(ctx)
	})
}

func (e *Engine) ended(w *worker) {
	w.slot.release()
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.running, w.id)
	if e.wanted[w.id].position <= w.position || w.isBlocked {
		delete(e.wanted, w.id)
	} else {
		e.look.Raise() // an event came while it ended
	}
}

// host is what the logs say of a receiver: the rest of its address may be secret.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
